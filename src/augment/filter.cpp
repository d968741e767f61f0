// SPDX-License-Identifier: Apache-2.0
#include "augment/filter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "augment/equalise.h"
#include "augment/filter_border.h"
#include "augment/filter_kernels.h"
#include "augment/lab.h"
#include "augment/scratch.h"

namespace yoload {
namespace {

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
        clahe(sample, filter.size_px, filter.clip_q8 / 256.0, scratch);
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
          static_cast<uint8_t>((9798 * r[x] + 19235 * g[x] + 3735 * b[x] + 16384) >> 15);
    }
  }
}

void clahe(MutableImageView sample, int tiles_per_side, double clip_limit, RenderScratch& scratch) {
  if (sample.channels != 3) {
    for (int channel = 0; channel < sample.channels; ++channel) {
      equalise_adaptively(sample, channel, tiles_per_side, clip_limit);
    }
    return;
  }
  const auto width = static_cast<size_t>(sample.width_px);
  const MutableImageView lab = scratch.buffers().filtered(sample.width_px, sample.height_px, 3);
  for (int y = 0; y < sample.height_px; ++y) {
    rgb_to_lab_row(sample.row(0, y), sample.row(1, y), sample.row(2, y), width, lab.row(0, y),
                   lab.row(1, y), lab.row(2, y));
  }
  equalise_adaptively(lab, 0, tiles_per_side, clip_limit);
  for (int y = 0; y < sample.height_px; ++y) {
    lab_to_rgb_row(lab.row(0, y), lab.row(1, y), lab.row(2, y), width, sample.row(0, y),
                   sample.row(1, y), sample.row(2, y));
  }
}

}  // namespace yoload
