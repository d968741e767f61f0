// The arithmetic of one pixel, as plan.h's notes define it: what every executor has to reproduce.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/image.h"
#include "core/plan.h"

namespace yoload {

/// a + (b - a) * w / 2^15 in Q7, rounded as pmulhrsw does. Note [Weights] in core/plan.h.
inline int lerp_q7(int a, int b, int weight_q15) {
  return a + ((2 * (b - a) * weight_q15 + 0x8000) >> 16);
}
inline int q7(uint8_t level) {
  return level << 7;
}
inline uint8_t level_of_q7(int value) {
  return static_cast<uint8_t>((value + 64) >> 7);
}
inline int weight_of_q32(int64_t coordinate) {
  return static_cast<int>((coordinate >> 17) & 0x7fff);
}

struct CanvasPosition {
  int64_t x = 0;  ///< Q32
  int64_t y = 0;
};

/// Where output pixel (ox, oy) samples the canvas.
inline CanvasPosition canvas_position(const InverseMap& map, int64_t ox, int64_t oy) {
  if (map.kind != MapKind::perspective) {
    return {map.xx * ox + map.xy * oy + map.x0, map.yx * ox + map.yy * oy + map.y0};
  }
  const auto x = static_cast<double>(ox), y = static_cast<double>(oy);
  const double u = (map.h[0] * x + map.h[1] * y) + map.h[2];
  const double v = (map.h[3] * x + map.h[4] * y) + map.h[5];
  const double w = (map.h[6] * x + map.h[7] * y) + map.h[8];
  const auto fixed = [](double value) {
    const double scaled = std::floor(value * 0x1p32);
    // The comparison is also false for NaN (w = 0 and u = 0).
    if (!(scaled > -0x1p50)) return -(int64_t{1} << 50);
    return static_cast<int64_t>(std::min(scaled, 0x1p50));
  };
  return {fixed(u / w), fixed(v / w)};
}

/// The tile that shows canvas pixel (x, y), or null: later tiles lie on top.
inline const PlanTile* tile_at(const PlanLayer& layer, int64_t x, int64_t y) {
  for (auto tile = layer.tiles.rbegin(); tile != layer.tiles.rend(); ++tile) {
    if (x >= tile->x0 && x < tile->x1 && y >= tile->y0 && y < tile->y1) return &*tile;
  }
  return nullptr;
}

/// `exact`: bilinear over the virtual canvas, so a seam blends two tiles and a border blends with
/// 114.
inline uint8_t sample_exact(const PlanLayer& layer, std::span<const ImageView> tiles, int channel,
                            CanvasPosition at) {
  const int64_t x = at.x >> 32, y = at.y >> 32;
  const auto canvas = [&](int64_t cx, int64_t cy) {
    const PlanTile* tile = tile_at(layer, cx, cy);
    if (tile == nullptr) return q7(kPadValue);
    return q7(tiles[static_cast<size_t>(tile->source)].at(
        channel, static_cast<int>(cy - tile->offset_y), static_cast<int>(cx - tile->offset_x)));
  };
  const int wy = weight_of_q32(at.y), wx = weight_of_q32(at.x);
  const int left = lerp_q7(canvas(x, y), canvas(x, y + 1), wy);
  const int right = lerp_q7(canvas(x + 1, y), canvas(x + 1, y + 1), wy);
  return level_of_q7(lerp_q7(left, right, wx));
}

/// Canvas coordinate inside a tile -> coordinate in the tile's own pixels, centre-aligned and
/// clamped, Q32. `step` is tile pixels per canvas pixel, Q32.
inline int64_t fused_coordinate(int64_t canvas, int64_t offset, int64_t step, int pixels) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  const auto scaled =
      static_cast<int64_t>((static_cast<__int128>(canvas - (offset << 32) + kHalf) * step) >> 32);
  return std::clamp<int64_t>(scaled - kHalf, 0, (static_cast<int64_t>(pixels) - 1) << 32);
}
inline int64_t fused_step(int pixels, int canvas_pixels) {
  return (static_cast<int64_t>(pixels) << 32) / canvas_pixels;
}

/// `fused`: the tile under the nearest canvas pixel, sampled bilinearly with its edge repeated.
inline uint8_t sample_fused(const SamplePlan& plan, const PlanLayer& layer,
                            std::span<const ImageView> tiles, int channel, CanvasPosition at) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  const PlanTile* tile = tile_at(layer, (at.x + kHalf) >> 32, (at.y + kHalf) >> 32);
  if (tile == nullptr) return kPadValue;
  const auto source = static_cast<size_t>(tile->source);
  const ImageView& view = tiles[source];
  const int64_t sx =
      fused_coordinate(at.x, tile->offset_x,
                       fused_step(view.width_px, plan.sources[source].width_px), view.width_px);
  const int64_t sy =
      fused_coordinate(at.y, tile->offset_y,
                       fused_step(view.height_px, plan.sources[source].height_px), view.height_px);
  const int x0 = static_cast<int>(sx >> 32), y0 = static_cast<int>(sy >> 32);
  const int x1 = std::min(x0 + 1, view.width_px - 1), y1 = std::min(y0 + 1, view.height_px - 1);
  const int wy = weight_of_q32(sy), wx = weight_of_q32(sx);
  const int left = lerp_q7(q7(view.at(channel, y0, x0)), q7(view.at(channel, y1, x0)), wy);
  const int right = lerp_q7(q7(view.at(channel, y0, x1)), q7(view.at(channel, y1, x1)), wy);
  return level_of_q7(lerp_q7(left, right, wx));
}

inline uint8_t mixed(uint8_t a, uint8_t b, uint32_t weight_q16) {
  return static_cast<uint8_t>((a * weight_q16 + b * (65536 - weight_q16)) >> 16);
}

/// RGB through OpenCV's 8-bit HSV, PlanHsv's gains, and back. Within 1 level of OpenCV 5 on every
/// colour.
///
/// The steps (255 << 12) / value and (180 << 12) / 6 / range are OpenCV's tables, rounded to the
/// nearest; they come from an exactly rounded float division, everything else is whole numbers.
/// Back: a channel is value - chroma * weight / 7650 with weight 0..30 from the hue, in two 16-bit
/// products (2184 = 2^16 / 30 rounded down, 257 = 2^16 / 255, 130 makes up for both being floors:
/// 0.6 % of all results differ, by 1).
inline std::array<uint8_t, 3> hsv_pixel(uint8_t r, uint8_t g, uint8_t b, const PlanHsv& hsv) {
  const int value = std::max({r, g, b});
  const int range = value - std::min({r, g, b});
  const auto step = [](float numerator, int divisor) {
    return static_cast<int>(std::nearbyint(numerator / static_cast<float>(std::max(divisor, 1))));
  };
  const int sat = (range * step(1044480.0f, value) + 2048) >> 12;
  const int sector = value == r ? g - b : value == g ? b - r + 2 * range : r - g + 4 * range;
  int hue = (sector * step(122880.0f, range) + 2048) >> 12;
  if (hue < 0) hue += 180;
  hue = (hue + hsv.hue_shift) % 180;
  const auto gained = [](int level, uint32_t gain_q15) {
    return std::min<uint32_t>(255, (static_cast<uint32_t>(level) * gain_q15) >> 15);
  };
  const uint32_t new_sat = gained(sat, hsv.sat_gain_q15),
                 new_value = gained(value, hsv.val_gain_q15);
  const uint32_t chroma = new_value * new_sat;
  const auto channel = [&](int turn) {
    const int k = (hue + turn) % 180;
    const auto weight = static_cast<uint32_t>(std::min(std::max(std::min(k, 120 - k), 0), 30));
    return static_cast<uint8_t>(new_value - (((chroma * (weight * 2184) >> 16) + 130) * 257 >> 16));
  };
  return {channel(150), channel(90), channel(30)};
}

}  // namespace yoload
