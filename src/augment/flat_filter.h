// Filters a pixel at a time: what kernels do to the scratch pictures of the few samples that draw
// one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augment/equalise_level.h"
#include "augment/filter_border.h"
#include "augment/flat_plan.h"
#include "augment/lab.h"
#include "device/host_device.h"

namespace yoload::flat {

/// box_blur of filter.h at one pixel of a plane without gaps.
YOLOAD_HD inline uint8_t blurred(const uint8_t* plane, int width, int height, int size_px, int x,
                                 int y) {
  const int radius = size_px / 2, area = size_px * size_px;
  int sum = area / 2;
  for (int dy = -radius; dy <= radius; ++dy) {
    const uint8_t* row = plane + static_cast<int64_t>(mirrored(y + dy, height)) * width;
    for (int dx = -radius; dx <= radius; ++dx) sum += row[mirrored(x + dx, width)];
  }
  return static_cast<uint8_t>(sum / area);
}

/// median_blur of filter.h: the largest level with at most half of the window below it, bit by bit.
YOLOAD_HD inline uint8_t median(const uint8_t* plane, int width, int height, int size_px, int x,
                                int y) {
  const int radius = size_px / 2, half = size_px * size_px / 2;
  int found = 0;
  for (int bit = 128; bit > 0; bit >>= 1) {
    int below = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
      const uint8_t* row = plane + static_cast<int64_t>(repeated(y + dy, height)) * width;
      for (int dx = -radius; dx <= radius; ++dx) {
        below += row[repeated(x + dx, width)] < (found | bit) ? 1 : 0;
      }
    }
    if (below <= half) found |= bit;
  }
  return static_cast<uint8_t>(found);
}

YOLOAD_HD inline uint8_t gray_level(int r, int g, int b) {
  return static_cast<uint8_t>((9798 * r + 19235 * g + 3735 * b + 16384) >> 15);
}

/// Tiles of CLAHE along one axis.
YOLOAD_HD inline int clahe_tiles(int tiles_per_side, int pixels) {
  return tiles_per_side < pixels ? tiles_per_side : pixels;
}

/// One step of `filter` (blur, median, gray, colour to and from L*a*b*) at pixel (x, y).
YOLOAD_HD inline void blur_pixel(const FlatFilter& f, int channel, int x, int y) {
  const int64_t plane = static_cast<int64_t>(channel) * f.width_px * f.height_px;
  f.to[plane + static_cast<int64_t>(y) * f.width_px + x] =
      blurred(f.from + plane, f.width_px, f.height_px, f.filter.size_px, x, y);
}
YOLOAD_HD inline void median_pixel(const FlatFilter& f, int channel, int x, int y) {
  const int64_t plane = static_cast<int64_t>(channel) * f.width_px * f.height_px;
  f.to[plane + static_cast<int64_t>(y) * f.width_px + x] =
      median(f.from + plane, f.width_px, f.height_px, f.filter.size_px, x, y);
}
YOLOAD_HD inline void gray_pixel(const FlatFilter& f, int64_t at) {
  const int64_t plane = static_cast<int64_t>(f.width_px) * f.height_px;
  uint8_t* p = f.from + at;
  p[0] = p[plane] = p[2 * plane] = gray_level(p[0], p[plane], p[2 * plane]);
}
YOLOAD_HD inline void lab_pixel(const FlatFilter& f, const LabTables& tables, int64_t at) {
  const int64_t plane = static_cast<int64_t>(f.width_px) * f.height_px;
  const uint8_t* p = f.from + at;
  const auto lab = rgb_to_lab(tables, p[0], p[plane], p[2 * plane]);
  for (size_t c = 0; c < 3; ++c) f.to[at + static_cast<int64_t>(c) * plane] = lab[c];
}

/// The plane that CLAHE equalises: L, which lies in `to`, or a channel by itself.
YOLOAD_HD inline uint8_t* clahe_plane(const FlatFilter& f, int channel) {
  return (f.channels == 3 ? f.to : f.from) +
         static_cast<int64_t>(channel) * f.width_px * f.height_px;
}
YOLOAD_HD inline uint8_t* clahe_table(const FlatFilter& f, int channel, int tile_x, int tile_y) {
  const int tiles_x = clahe_tiles(f.filter.size_px, f.width_px),
            tiles_y = clahe_tiles(f.filter.size_px, f.height_px);
  return f.tables + ((channel * tiles_y + tile_y) * tiles_x + tile_x) * 256;
}
/// Equalises; three channels go back to RGB in `from`.
YOLOAD_HD inline void clahe_pixel(const FlatFilter& f, const LabTables& lab, int channel, int x,
                                  int y) {
  const int tiles_x = clahe_tiles(f.filter.size_px, f.width_px),
            tiles_y = clahe_tiles(f.filter.size_px, f.height_px);
  const int64_t at = static_cast<int64_t>(y) * f.width_px + x;
  uint8_t* plane = clahe_plane(f, channel);
  const uint8_t level =
      equalised(clahe_table(f, channel, 0, 0), tiles_x, tile_neighbours(x, f.width_px, tiles_x),
                tile_neighbours(y, f.height_px, tiles_y), plane[at]);
  if (f.channels != 3) {
    plane[at] = level;
    return;
  }
  const int64_t next = static_cast<int64_t>(f.width_px) * f.height_px;
  const auto rgb = lab_to_rgb(lab, level, plane[at + next], plane[at + 2 * next]);
  for (size_t c = 0; c < 3; ++c) f.from[at + static_cast<int64_t>(c) * next] = rgb[c];
}

/// Exchanges a column and its mirror image where the mask says so.
YOLOAD_HD inline void paste_pixel(const FlatPaste& p, const uint32_t* masks, int channel, int left,
                                  int y) {
  const int right = p.width_px - 1 - left;
  const uint32_t* row = masks + p.mask_word + static_cast<int64_t>(y) * ((p.width_px + 31) / 32);
  uint8_t* at = p.canvas + (static_cast<int64_t>(channel) * p.height_px + y) * p.width_px;
  const uint8_t a = at[left], b = at[right];
  if (row[left / 32] >> (left % 32) & 1) at[left] = b;
  if (row[right / 32] >> (right % 32) & 1) at[right] = a;
}

}  // namespace yoload::flat
