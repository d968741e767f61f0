// SPDX-License-Identifier: Apache-2.0
#include "augment/filter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "augment/scratch.h"

namespace yoload {
namespace {

/// Index mirrored at the border without repeating the edge: -1 -> 1, n -> n - 2.
int mirrored(int i, int n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
  return i;
}

void copy(ImageView from, MutableImageView to) {
  for (int channel = 0; channel < from.channels; ++channel) {
    for (int y = 0; y < from.height_px; ++y) {
      std::memcpy(to.row(channel, y), from.row(channel, y), static_cast<size_t>(from.width_px));
    }
  }
}

ImageView read_only(MutableImageView view) {
  return {view.data,     view.width_px,         view.height_px,
          view.channels, view.row_stride_bytes, view.plane_stride_bytes};
}

using Histogram = std::array<int, 256>;

/// Clips a histogram, spreads the excess evenly, and turns it into a table of levels.
std::array<uint8_t, 256> equalising_table(Histogram histogram, int pixels, double clip_limit) {
  const int limit = std::max(1, static_cast<int>(clip_limit * pixels / 256));
  int excess = 0;
  for (int& count : histogram) {
    excess += std::max(0, count - limit);
    count = std::min(count, limit);
  }
  for (int& count : histogram) count += excess / 256;
  const int rest = excess % 256;
  for (int i = 0; i < rest; ++i) ++histogram[static_cast<size_t>(i * 256 / rest)];
  std::array<uint8_t, 256> table{};
  int64_t sum = 0;
  for (size_t level = 0; level < 256; ++level) {
    sum += histogram[level];
    table[level] = static_cast<uint8_t>(std::min<int64_t>(255, (sum * 255 + pixels / 2) / pixels));
  }
  return table;
}

uint8_t value_at(const MutableImageView& sample, int y, int x) {
  uint8_t value = sample.at(0, y, x);
  for (int channel = 1; channel < sample.channels; ++channel) {
    value = std::max(value, sample.at(channel, y, x));
  }
  return value;
}

}  // namespace

void apply_filters(const std::vector<PlanFilter>& filters, MutableImageView sample,
                   RenderScratch& scratch) {
  for (const PlanFilter& filter : filters) {
    switch (filter.kind) {
      case FilterKind::blur:
      case FilterKind::median_blur: {
        const MutableImageView out =
            scratch.buffers().filtered(sample.width_px, sample.height_px, sample.channels);
        if (filter.kind == FilterKind::blur) {
          box_blur(read_only(sample), filter.size_px, out);
        } else {
          median_blur(read_only(sample), filter.size_px, out);
        }
        copy(read_only(out), sample);
        break;
      }
      case FilterKind::to_gray:
        if (sample.channels == 3) to_gray(sample);
        break;
      case FilterKind::clahe:
        clahe(sample, filter.size_px, filter.clip_q8 / 256.0);
        break;
    }
  }
}

void box_blur(ImageView in, int size_px, MutableImageView out) {
  const int radius = size_px / 2, area = size_px * size_px;
  std::vector<int> sums(static_cast<size_t>(in.width_px));
  for (int channel = 0; channel < in.channels; ++channel) {
    for (int y = 0; y < in.height_px; ++y) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int dy = -radius; dy <= radius; ++dy) {
        const uint8_t* row = in.row(channel, mirrored(y + dy, in.height_px));
        for (int x = 0; x < in.width_px; ++x) sums[static_cast<size_t>(x)] += row[x];
      }
      uint8_t* to = out.row(channel, y);
      for (int x = 0; x < in.width_px; ++x) {
        int sum = 0;
        for (int dx = -radius; dx <= radius; ++dx) {
          sum += sums[static_cast<size_t>(mirrored(x + dx, in.width_px))];
        }
        to[x] = static_cast<uint8_t>((2 * sum + area) / (2 * area));
      }
    }
  }
}

void median_blur(ImageView in, int size_px, MutableImageView out) {
  const int radius = size_px / 2, rank = size_px * size_px / 2;
  for (int channel = 0; channel < in.channels; ++channel) {
    for (int y = 0; y < in.height_px; ++y) {
      // A sliding histogram (Huang, Yang and Tang, 1979): one column leaves and one enters per
      // step. The median moves little between neighbours, so it is found by walking from the last
      // one.
      Histogram histogram{};
      int median = 0, below = 0;  // pixels under `median`
      const auto column = [&](int x, int sign) {
        const int at = std::clamp(x, 0, in.width_px - 1);
        for (int dy = -radius; dy <= radius; ++dy) {
          const uint8_t level = in.at(channel, std::clamp(y + dy, 0, in.height_px - 1), at);
          histogram[level] += sign;
          if (level < median) below += sign;
        }
      };
      for (int x = -radius; x <= radius; ++x) column(x, 1);
      for (int x = 0; x < in.width_px; ++x) {
        while (below > rank) below -= histogram[static_cast<size_t>(--median)];
        while (below + histogram[static_cast<size_t>(median)] <= rank) {
          below += histogram[static_cast<size_t>(median++)];
        }
        out.at(channel, y, x) = static_cast<uint8_t>(median);
        column(x - radius, -1);
        column(x + radius + 1, 1);
      }
    }
  }
}

void to_gray(MutableImageView sample) {
  for (int y = 0; y < sample.height_px; ++y) {
    uint8_t *r = sample.row(0, y), *g = sample.row(1, y), *b = sample.row(2, y);
    for (int x = 0; x < sample.width_px; ++x) {
      r[x] = g[x] = b[x] =
          static_cast<uint8_t>((4899 * r[x] + 9617 * g[x] + 1868 * b[x] + 8192) >> 14);
    }
  }
}

void clahe(MutableImageView sample, int tiles_per_side, double clip_limit) {
  const int width = sample.width_px, height = sample.height_px;
  const int tiles_x = std::min(tiles_per_side, width), tiles_y = std::min(tiles_per_side, height);
  std::vector<std::array<uint8_t, 256>> tables;
  for (int ty = 0; ty < tiles_y; ++ty) {
    for (int tx = 0; tx < tiles_x; ++tx) {
      const int x0 = width * tx / tiles_x, x1 = width * (tx + 1) / tiles_x;
      const int y0 = height * ty / tiles_y, y1 = height * (ty + 1) / tiles_y;
      Histogram histogram{};
      for (int y = y0; y < y1; ++y) {
        for (int x = x0; x < x1; ++x) ++histogram[value_at(sample, y, x)];
      }
      tables.push_back(equalising_table(histogram, (x1 - x0) * (y1 - y0), clip_limit));
    }
  }
  // Between tile centres the four nearest tables blend, in 1/256 steps.
  struct Neighbour {
    int first = 0, second = 0, weight_q8 = 0;
  };
  const auto neighbour = [](int i, int n, int tiles) {
    const int at = (512 * i + 256) * tiles / (2 * n) - 128;  // Q8 in tiles, from the first centre
    const int tile = std::clamp(at >> 8, 0, tiles - 1);
    if (at < 0) return Neighbour{0, 0, 0};
    return Neighbour{tile, std::min(tile + 1, tiles - 1), at & 255};
  };
  for (int y = 0; y < height; ++y) {
    const Neighbour row = neighbour(y, height, tiles_y);
    for (int x = 0; x < width; ++x) {
      const Neighbour column = neighbour(x, width, tiles_x);
      const uint8_t value = value_at(sample, y, x);
      const auto entry = [&](int ty, int tx) {
        return static_cast<int>(tables[static_cast<size_t>(ty * tiles_x + tx)][value]);
      };
      const auto across = [&](int ty) {
        return entry(ty, column.first) * (256 - column.weight_q8) +
               entry(ty, column.second) * column.weight_q8;
      };
      const int blended = (across(row.first) * (256 - row.weight_q8) +
                           across(row.second) * row.weight_q8 + 32768) >>
                          16;
      for (int channel = 0; channel < sample.channels; ++channel) {
        uint8_t& level = sample.at(channel, y, x);
        level = value == 0 ? static_cast<uint8_t>(blended)
                           : static_cast<uint8_t>((2 * level * blended + value) / (2 * value));
      }
    }
  }
}

}  // namespace yoload
