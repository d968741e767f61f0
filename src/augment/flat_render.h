// What one GPU thread does for its pixels of a sample, as functions that a CPU can run too.
//
// Note [Patches]. A warp renders a patch of the output. First it finds out which tiles the patch's
// footprint on the canvas touches, one tile a thread and a vote. Where one tile holds the whole
// footprint and nothing lies over it, which is the rule, a pixel is twelve loads at known distances
// and no decision. Everywhere else each pixel looks up which tile each of its four neighbours comes
// from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augment/flat_pixel.h"
#include "augment/flat_plan.h"
#include "augment/flat_store.h"
#include "device/host_device.h"

namespace yoload::flat {

/// A thread renders pairs of neighbouring columns, a warp two rows of 16 pairs at a time.
inline constexpr int kPatchWidth = 32, kPatchHeight = 16;
inline constexpr int kPairs = kPatchWidth / 2, kRowsAtATime = 32 / kPairs;

/// The arrays of a batch in the kernel's memory.
struct FlatArrays {
  const FlatTile* tiles = nullptr;
  const uint32_t* masks = nullptr;
  const uint8_t* pad = nullptr;  ///< one byte of kPadValue
};

/// Inclusive canvas pixels.
struct Footprint {
  int x0, y0, x1, y1;
};

/// Output column or row before flips.
YOLOAD_HD inline int unflipped(bool flip, int at, int pixels) {
  return flip ? pixels - 1 - at : at;
}

/// Canvas pixels that decide the patch at output (x, y) of a layer. A map without perspective is
/// linear, so its extremes lie at the corners.
YOLOAD_HD inline Footprint footprint(const FlatSample& sample, const FlatLayer& layer, int x,
                                     int y) {
  if (layer.perspective) return {-(1 << 30), -(1 << 30), 1 << 30, 1 << 30};
  const int right = lesser(x + kPatchWidth, sample.width_px) - 1;
  const int bottom = lesser(y + kPatchHeight, sample.height_px) - 1;
  const int ox0 = unflipped(sample.fliplr, x, sample.width_px),
            ox1 = unflipped(sample.fliplr, right, sample.width_px);
  const int oy0 = unflipped(sample.flipud, y, sample.height_px),
            oy1 = unflipped(sample.flipud, bottom, sample.height_px);
  const Position a = affine_position(layer, ox0, oy0), b = affine_position(layer, ox1, oy0),
                 c = affine_position(layer, ox0, oy1), d = affine_position(layer, ox1, oy1);
  const int64_t x_low = lesser(lesser(a.x, b.x), lesser(c.x, d.x)),
                x_high = greater(greater(a.x, b.x), greater(c.x, d.x)),
                y_low = lesser(lesser(a.y, b.y), lesser(c.y, d.y)),
                y_high = greater(greater(a.y, b.y), greater(c.y, d.y));
  const int64_t rounding = sample.fused ? int64_t{1} << 31 : 0;
  const int more = sample.fused ? 0 : 1;
  return {whole_of(x_low + rounding), whole_of(y_low + rounding),
          whole_of(x_high + rounding) + more, whole_of(y_high + rounding) + more};
}

YOLOAD_HD inline bool touches(const FlatTile& tile, const Footprint& f) {
  return f.x1 >= tile.x0 && f.x0 < tile.x1 && f.y1 >= tile.y0 && f.y0 < tile.y1;
}
YOLOAD_HD inline bool holds(const FlatTile& tile, const Footprint& f) {
  return f.x0 >= tile.x0 && f.x1 < tile.x1 && f.y0 >= tile.y0 && f.y1 < tile.y1;
}

/// The vote's outcome.
struct Shown {
  uint32_t touched = 0;  ///< a bit a tile of the layer
  bool whole = false;    ///< the topmost of them holds the whole footprint
};

YOLOAD_HD inline Shown shown(uint32_t touched, uint32_t holding) {
  // The topmost touched tile is the highest bit: no other bit may exceed what holds.
  return {touched, touched != 0 && (touched ^ holding) < (touched & holding)};
}

YOLOAD_HD inline int highest_bit(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return 31 - __clz(static_cast<int>(bits));
#else
  return 31 - __builtin_clz(bits);
#endif
}

/// Where the four neighbours of one position lie in the first plane, and how they weigh.
struct Spot {
  const uint8_t* corner[4];  ///< top left, top right, bottom left, bottom right
  int64_t plane_bytes[4];
  int wx, wy;

  YOLOAD_HD float level(int channel) const {
    const auto at = [&](int k) -> int { return pixel_at(corner[k] + channel * plane_bytes[k]); };
    return blended(at(0), at(1), at(2), at(3), wx, wy);
  }
};

/// exact: each neighbour from the topmost tile that shows it, or padding.
YOLOAD_HD inline Spot exact_spot(const FlatTile* tiles, uint32_t touched, const uint8_t* pad,
                                 Position at) {
  const int x = whole_of(at.x), y = whole_of(at.y);
  Spot spot = {{pad, pad, pad, pad}, {0, 0, 0, 0}, weight_of(at.x), weight_of(at.y)};
  uint32_t open = 0xf;
  while (touched != 0 && open != 0) {
    const int index = highest_bit(touched);
    touched ^= 1u << index;
    const FlatTile& tile = tiles[index];
    const uint32_t columns = (x >= tile.x0 && x < tile.x1 ? 0b0101u : 0u) |
                             (x + 1 >= tile.x0 && x + 1 < tile.x1 ? 0b1010u : 0u);
    const uint32_t rows = (y >= tile.y0 && y < tile.y1 ? 0b0011u : 0u) |
                          (y + 1 >= tile.y0 && y + 1 < tile.y1 ? 0b1100u : 0u);
    const uint32_t found = columns & rows & open;
    if (found == 0) continue;
    open ^= found;
    const uint8_t* first = tile.base + (static_cast<int64_t>(y) * tile.row_bytes + x);
    for (int k = 0; k < 4; ++k) {
      if ((found >> k & 1) == 0) continue;
      spot.corner[k] = first + ((k & 1) + (k >> 1) * static_cast<int64_t>(tile.row_bytes));
      spot.plane_bytes[k] = tile.plane_bytes;
    }
  }
  return spot;
}

/// fused: the topmost tile under the nearest canvas pixel, or padding.
YOLOAD_HD inline Spot fused_spot(const FlatTile* tiles, uint32_t touched, const uint8_t* pad,
                                 Position at) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  const int x = whole_of(at.x + kHalf), y = whole_of(at.y + kHalf);
  while (touched != 0) {
    const int index = highest_bit(touched);
    touched ^= 1u << index;
    const FlatTile& tile = tiles[index];
    if (x < tile.x0 || x >= tile.x1 || y < tile.y0 || y >= tile.y1) continue;
    const Neighbours h = fused_neighbours(at.x, tile.offset_x, tile.step_x, tile.width_px);
    const Neighbours v = fused_neighbours(at.y, tile.offset_y, tile.step_y, tile.height_px);
    const uint8_t* top = tile.base + (static_cast<int64_t>(v.first) * tile.row_bytes + h.first);
    const uint8_t* bottom = top + static_cast<int64_t>(v.step) * tile.row_bytes;
    const int64_t plane = tile.plane_bytes;
    return {{top, top + h.step, bottom, bottom + h.step},
            {plane, plane, plane, plane},
            h.weight,
            v.weight};
  }
  return {{pad, pad, pad, pad}, {0, 0, 0, 0}, 0, 0};
}

YOLOAD_HD inline Spot spot_at(const FlatSample& sample, const FlatTile* tiles, uint32_t touched,
                              const uint8_t* pad, Position at) {
  return sample.fused ? fused_spot(tiles, touched, pad, at) : exact_spot(tiles, touched, pad, at);
}

/// What comes after the layers: HSV where `coloured`, channel order, erasing.
YOLOAD_HD inline void finish_pixel(const FlatSample& sample, bool coloured, int x, int y,
                                   float* level) {
  if (coloured) hsv_levels(sample, &level[0], &level[1], &level[2]);
  if (sample.bgr) {
    const float red = level[0];
    level[0] = level[2], level[2] = red;
  }
  if (sample.erases && x >= sample.erase.x0 && x < sample.erase.x1 && y >= sample.erase.y0 &&
      y < sample.erase.y1) {
    level[0] = level[1] = level[2] = 0.0f;
  }
}

/// A thread's share of a patch at output (left, top): one layer, three channels, no perspective.
template <bool kFused, bool kAffine>
YOLOAD_HD inline void render_plain(const FlatSample& sample, const FlatOutput& output,
                                   const FlatArrays& arrays, int left, int top, Shown shows,
                                   int lane) {
  const int width = sample.width_px, height = sample.height_px;
  const int x = left + 2 * (lane % kPairs), first_y = top + lane / kPairs;
  if (x >= width || first_y >= height) return;
  const FlatLayer& layer = sample.layers[0];
  const FlatTile* tiles = arrays.tiles + layer.first_tile;
  const int ox[2] = {unflipped(sample.fliplr, x, width),
                     unflipped(sample.fliplr, lesser(x + 1, width - 1), width)};
  const int oy = unflipped(sample.flipud, first_y, height);
  Position at[2] = {affine_position(layer, ox[0], oy), affine_position(layer, ox[1], oy)};
  const int down = sample.flipud ? -kRowsAtATime : kRowsAtATime;
  const int64_t down_x = kAffine ? layer.xy * down : 0, down_y = layer.yy * down;

  const FlatTile tile = shows.whole ? tiles[highest_bit(shows.touched)] : FlatTile{};
  const auto across = [&](int k) {
    return kFused ? fused_neighbours(at[k].x, tile.offset_x, tile.step_x, tile.width_px)
                  : exact_neighbours(at[k].x);
  };
  const auto along = [&](int k) {
    return kFused ? fused_neighbours(at[k].y, tile.offset_y, tile.step_y, tile.height_px)
                  : exact_neighbours(at[k].y);
  };
  Neighbours h[2] = {across(0), across(1)};

  const int last_y = lesser(top + kPatchHeight, height);
  for (int y = first_y; y < last_y; y += kRowsAtATime) {
    float level[2][3];
    if (shows.whole) {
      Neighbours v[2] = {along(0), {}};
      v[1] = kAffine ? along(1) : v[0];
      if (kAffine) h[0] = across(0), h[1] = across(1);
      for (int k = 0; k < 2; ++k) {
        const uint8_t* upper =
            tile.base + (static_cast<int64_t>(v[k].first) * tile.row_bytes + h[k].first);
        const int64_t below = kFused && v[k].step == 0 ? 0 : tile.row_bytes;
        const int right = kFused ? h[k].step : 1;
        for (int channel = 0; channel < 3; ++channel) {
          const uint8_t* lower = upper + below;
          level[k][channel] = blended(pixel_at(upper), pixel_at(upper + right), pixel_at(lower),
                                      pixel_at(lower + right), h[k].weight, v[k].weight);
          upper += tile.plane_bytes;
        }
      }
    } else if (shows.touched == 0) {
      for (int k = 0; k < 6; ++k) level[k / 3][k % 3] = sample.pad_level;
    } else {
      for (int k = 0; k < 2; ++k) {
        const Spot spot = kFused ? fused_spot(tiles, shows.touched, arrays.pad, at[k])
                                 : exact_spot(tiles, shows.touched, arrays.pad, at[k]);
        for (int channel = 0; channel < 3; ++channel) level[k][channel] = spot.level(channel);
      }
    }
    const bool coloured = sample.hsv && shows.touched != 0;
    finish_pixel(sample, coloured, x, y, level[0]);
    finish_pixel(sample, coloured, x + 1, y, level[1]);
    store_pair(sample, output, x, y, level[0], level[1]);
    for (int k = 0; k < 2; ++k) {
      if (kAffine) at[k].x += down_x;
      at[k].y += down_y;
    }
  }
}

/// Does output pixel (ox, oy), before flips, show the second layer?
YOLOAD_HD inline bool shows_second(const FlatSample& sample, const uint32_t* masks, int ox,
                                   int oy) {
  if (sample.mix == MixKind::cutmix) {
    return ox >= sample.cutmix.x0 && ox < sample.cutmix.x1 && oy >= sample.cutmix.y0 &&
           oy < sample.cutmix.y1;
  }
  if (sample.mix != MixKind::paste) return false;
  const int row_words = (sample.width_px + 31) / 32;
  const uint32_t word =
      masks[sample.paste_mask_word + static_cast<int64_t>(oy) * row_words + ox / 32];
  return (word >> (ox % 32) & 1) != 0;
}

/// A thread's share of a patch of any sample. `shows` has an entry a layer.
YOLOAD_HD inline void render_any(const FlatSample& sample, const FlatOutput& output,
                                 const FlatArrays& arrays, int left, int top, const Shown* shows,
                                 int lane) {
  const int width = sample.width_px, height = sample.height_px;
  const auto spot = [&](int layer, int ox, int oy) {
    const FlatLayer& of = sample.layers[layer];
    return spot_at(sample, arrays.tiles + of.first_tile, shows[layer].touched, arrays.pad,
                   canvas_position(of, ox, oy));
  };
  const int x = left + lane;
  if (x >= width) return;
  const int last_y = lesser(top + kPatchHeight, height);
  const int ox = unflipped(sample.fliplr, x, width);
  for (int y = top; y < last_y; ++y) {
    const int oy = unflipped(sample.flipud, y, height);
    const bool mixup = sample.mix == MixKind::mixup;
    const Spot own = spot(shows_second(sample, arrays.masks, ox, oy) ? 1 : 0, ox, oy);
    const Spot other = mixup ? spot(1, ox, oy) : own;
    const auto level = [&](int channel) {
      const float first = own.level(channel);
      return mixup ? mixed(first, other.level(channel), sample.mixup_weight) : first;
    };
    if (sample.channels == 3) {
      float levels[3] = {level(0), level(1), level(2)};
      finish_pixel(sample, sample.hsv, x, y, levels);
      for (int channel = 0; channel < 3; ++channel) {
        store_level(sample, output, channel, x, y, levels[channel]);
      }
      continue;
    }
    const bool erased = sample.erases && x >= sample.erase.x0 && x < sample.erase.x1 &&
                        y >= sample.erase.y0 && y < sample.erase.y1;
    for (int channel = 0; channel < sample.channels; ++channel) {
      store_level(sample, output, channel, x, y, erased ? 0.0f : level(channel));
    }
  }
}

}  // namespace yoload::flat
