// SPDX-License-Identifier: Apache-2.0
#include "augment/filter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "augment/kernels.h"
#include "augment/scratch.h"

namespace yoload {
namespace {

/// Index mirrored at the border without repeating the edge: -1 -> 1, n -> n - 2.
int mirrored(int i, int n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
  return i;
}

/// Index clamped at the border.
int repeated(int i, int n) {
  return std::clamp(i, 0, n - 1);
}

/// Calls `row_done(rows, channel, y)` with the size_px rows around each row, widened by the border
/// rule on both sides.
template <class Border, class RowDone>
void filter_rows(ImageView in, int size_px, const Border& border, RenderScratch& scratch,
                 const RowDone& row_done) {
  constexpr size_t kSlack = 128;  // what the row kernels may read and write past the end
  const int radius = size_px / 2;
  const size_t stride = static_cast<size_t>(in.width_px + 2 * radius) + kSlack;
  std::vector<uint8_t> ring(stride * static_cast<size_t>(size_px));
  std::vector<uint8_t>& row = scratch.buffers().rows;
  if (row.size() < stride) row.resize(stride);
  for (int channel = 0; channel < in.channels; ++channel) {
    const auto widened = [&](int y) {
      return &ring[static_cast<size_t>((y + radius) % size_px) * stride];
    };
    const auto fill = [&](int y) {
      const uint8_t* from = in.row(channel, border(y, in.height_px));
      uint8_t* to = widened(y);
      std::memcpy(to + radius, from, static_cast<size_t>(in.width_px));
      for (int x = 1; x <= radius; ++x) {
        to[radius - x] = from[border(-x, in.width_px)];
        to[radius + in.width_px - 1 + x] = from[border(in.width_px - 1 + x, in.width_px)];
      }
    };
    for (int y = -radius; y < radius; ++y) fill(y);
    std::array<const uint8_t*, 7> rows{};
    for (int y = 0; y < in.height_px; ++y) {
      fill(y + radius);
      for (int i = 0; i < size_px; ++i) rows[static_cast<size_t>(i)] = widened(y - radius + i);
      row_done(rows.data(), channel, y);
    }
  }
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

/// The largest channel of every pixel of a row.
void value_row(const MutableImageView& sample, int y, uint8_t* values) {
  const auto width = static_cast<size_t>(sample.width_px);
  std::memcpy(values, sample.row(0, y), width);
  for (int channel = 1; channel < sample.channels; ++channel) {
    const uint8_t* row = sample.row(channel, y);
    for (size_t x = 0; x < width; ++x) values[x] = std::max(values[x], row[x]);
  }
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
          box_blur(read_only(sample), filter.size_px, out, scratch);
        } else {
          median_blur(read_only(sample), filter.size_px, out, scratch);
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

void box_blur(ImageView in, int size_px, MutableImageView out, RenderScratch& scratch) {
  std::vector<uint16_t> sums(static_cast<size_t>(in.width_px) + 256);
  filter_rows(in, size_px, mirrored, scratch, [&](const uint8_t* const* rows, int channel, int y) {
    blur_row(rows, size_px, static_cast<size_t>(in.width_px), sums.data(),
             scratch.buffers().rows.data());
    std::memcpy(out.row(channel, y), scratch.buffers().rows.data(),
                static_cast<size_t>(in.width_px));
  });
}

void median_blur(ImageView in, int size_px, MutableImageView out, RenderScratch& scratch) {
  filter_rows(in, size_px, repeated, scratch, [&](const uint8_t* const* rows, int channel, int y) {
    median_row(rows, size_px, static_cast<size_t>(in.width_px), scratch.buffers().rows.data());
    std::memcpy(out.row(channel, y), scratch.buffers().rows.data(),
                static_cast<size_t>(in.width_px));
  });
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
  std::vector<uint8_t> values(static_cast<size_t>(width));
  std::vector<Histogram> histograms(static_cast<size_t>(tiles_x) * static_cast<size_t>(tiles_y));
  const auto edge = [](int tile, int size, int tiles) { return size * tile / tiles; };
  for (int ty = 0; ty < tiles_y; ++ty) {
    Histogram* of_row = &histograms[static_cast<size_t>(ty) * static_cast<size_t>(tiles_x)];
    for (int y = edge(ty, height, tiles_y); y < edge(ty + 1, height, tiles_y); ++y) {
      value_row(sample, y, values.data());
      for (int tx = 0; tx < tiles_x; ++tx) {
        for (int x = edge(tx, width, tiles_x); x < edge(tx + 1, width, tiles_x); ++x) {
          ++of_row[tx][values[static_cast<size_t>(x)]];
        }
      }
    }
  }
  std::vector<std::array<uint8_t, 256>> tables;
  for (int ty = 0; ty < tiles_y; ++ty) {
    for (int tx = 0; tx < tiles_x; ++tx) {
      const int pixels = (edge(tx + 1, width, tiles_x) - edge(tx, width, tiles_x)) *
                         (edge(ty + 1, height, tiles_y) - edge(ty, height, tiles_y));
      tables.push_back(equalising_table(histograms[tables.size()], pixels, clip_limit));
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
  std::vector<Neighbour> columns(static_cast<size_t>(width));
  for (int x = 0; x < width; ++x) columns[static_cast<size_t>(x)] = neighbour(x, width, tiles_x);
  // level * blended / value without a division: with 40 bits the rounding is that of the quotient.
  std::array<uint64_t, 256> inverse{};
  for (uint64_t value = 1; value < 256; ++value)
    inverse[value] = ((uint64_t{1} << 40) + value - 1) / value;
  std::vector<uint8_t> equalised(static_cast<size_t>(width));
  for (int y = 0; y < height; ++y) {
    const Neighbour row = neighbour(y, height, tiles_y);
    const auto* upper = &tables[static_cast<size_t>(row.first * tiles_x)];
    const auto* lower = &tables[static_cast<size_t>(row.second * tiles_x)];
    value_row(sample, y, values.data());
    for (size_t x = 0; x < values.size(); ++x) {
      const Neighbour& column = columns[x];
      const uint8_t value = values[x];
      const auto across = [&](const std::array<uint8_t, 256>* row_tables) {
        return row_tables[column.first][value] * (256 - column.weight_q8) +
               row_tables[column.second][value] * column.weight_q8;
      };
      equalised[x] = static_cast<uint8_t>(
          (across(upper) * (256 - row.weight_q8) + across(lower) * row.weight_q8 + 32768) >> 16);
    }
    for (int channel = 0; channel < sample.channels; ++channel) {
      uint8_t* levels = sample.row(channel, y);
      for (size_t x = 0; x < values.size(); ++x) {
        const uint64_t value = values[x];
        const uint64_t scaled =
            (uint64_t{2} * levels[x] * equalised[x] + value) * inverse[value] >> 41;
        levels[x] = value == 0 ? equalised[x] : static_cast<uint8_t>(scaled);
      }
    }
  }
}

}  // namespace yoload
