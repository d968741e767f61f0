// SamplePlan: everything that decides the pixels of one training sample, as plain integers.
//
// The planner (augment/plan) makes it from (seed, epoch, position) and the index; every executor
// (scalar, SIMD, CUDA) turns the same plan and the same tiles into the same bytes.
//
// Note [Coordinates]. A canvas is virtual: it is never stored. An output pixel (ox, oy), after
// flips are undone, samples the canvas at (cx, cy) = map(ox, oy), both at integer pixel indices as
// in cv2.warpAffine (no half-pixel shift). Canvas pixel (x, y) is the pixel (x - offset_x, y -
// offset_y) of the tile whose rectangle holds (x, y), else 114. Where rectangles overlap, the later
// tile wins.
//
// Note [Weights]. Maps are Q32 integers. With c = map(..), the left/top neighbour is c >> 32 and
// its partner's weight is the next 15 bits, w = (c >> 17) & 0x7fff. Values blend vertically first,
// then horizontally, in Q7: lerp(a, b, w) = a + ((2 * (b - a) * w + 0x8000) >> 16), a = value << 7;
// the level is (q7 + 64) >> 7. This stays within 0.52 levels of real bilinear interpolation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "yoload/options.h"

namespace yoload {

/// Grows when the meaning of a plan changes; part of every saved state.
inline constexpr uint32_t kPlanVersion = 1;
/// Grey level of everything outside the pictures.
inline constexpr uint8_t kPadValue = 114;

enum class MapKind : uint8_t {
  identity,      ///< canvas == output
  axis_aligned,  ///< xy == 0 and yx == 0: rows and columns separate
  affine,
  perspective,
};

/// Output pixel -> canvas position.
struct InverseMap {
  MapKind kind = MapKind::identity;
  // Q32: cx = xx * ox + xy * oy + x0; cy = yx * ox + yy * oy + y0.
  int64_t xx = int64_t{1} << 32, xy = 0, x0 = 0;
  int64_t yx = 0, yy = int64_t{1} << 32, y0 = 0;
  // perspective only, row-major 3x3, float64: u = (h0*ox + h1*oy) + h2 and so on, every product and
  // sum rounded once in this order, then cx = floor((u / w) * 2^32), saturated to +-2^50.
  std::array<double, 9> h = {1, 0, 0, 0, 1, 0, 0, 0, 1};
};

/// One decoded picture that the plan reads.
struct PlanSource {
  uint64_t position = 0;  ///< place in the epoch's order that was asked for
  uint32_t record = 0;    ///< index record that the position resolved to
  int32_t width_px = 0;   ///< size of the tile on the canvas, after resizing to imgsz
  int32_t height_px = 0;
};

/// Where a source lies on a canvas.
struct PlanTile {
  int32_t source = 0;      ///< into SamplePlan::sources
  int32_t x0 = 0, y0 = 0;  ///< visible rectangle on the canvas, [x0, x1) x [y0, y1)
  int32_t x1 = 0, y1 = 0;
  int32_t offset_x = 0, offset_y = 0;  ///< canvas position of the tile's own pixel (0, 0)
};

/// A polygon of a pasted object: in canvas pixels, where the mirrored canvas shows (copy-paste,
/// flip mode), or in output pixels before flips, where the second layer shows (mode mixup).
struct PlanPaste {
  std::vector<float> polygon;  // P,2 x, y
};

/// One canvas and the warp that samples it.
struct PlanLayer {
  int32_t canvas_width_px = 0;
  int32_t canvas_height_px = 0;
  std::vector<PlanTile> tiles;
  std::vector<PlanPaste> pastes;  ///< applied to the canvas before the warp
  InverseMap map;
};

enum class MixKind : uint8_t { none, mixup, cutmix, paste };

/// Second layer over the first one.
struct PlanMix {
  MixKind kind = MixKind::none;
  uint32_t weight_q16 = 65536;  ///< mixup: (a * w + b * (65536 - w)) >> 16, a the first layer
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< cutmix: output rectangle taken from the second layer
  std::vector<PlanPaste> pastes;           ///< paste: output polygons taken from the second layer
};

enum class FilterKind : uint8_t { blur, median_blur, to_gray, clahe };

/// Neighbourhood or histogram operation: the sample goes through a scratch picture before HSV.
struct PlanFilter {
  FilterKind kind = FilterKind::blur;
  int32_t size_px = 3;   ///< blur, median: odd kernel side; clahe: tiles per side
  uint32_t clip_q8 = 0;  ///< clahe: clip limit in 1/256
};

/// 8-bit HSV: hue (h + hue_shift) mod 180; saturation min(255, s * gain >> 15), value alike.
struct PlanHsv {
  bool enabled = false;
  int32_t hue_shift = 0;          ///< 0..179
  uint32_t sat_gain_q15 = 32768;  ///< at most 65535
  uint32_t val_gain_q15 = 32768;
};

/// Output rectangle [x0, x1) x [y0, y1), as it will be seen (after flips). Empty: nothing.
struct PlanRect {
  int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

struct SamplePlan {
  uint32_t version = kPlanVersion;
  uint64_t seed = 0;
  uint32_t epoch = 0;
  uint64_t position = 0;
  int32_t out_width_px = 0;
  int32_t out_height_px = 0;
  int32_t channels = 3;
  Fidelity fidelity = Fidelity::exact;
  std::vector<PlanSource> sources;  ///< sources[0] is the sample's own picture
  std::vector<PlanLayer> layers;    ///< one, or two with mixup or cutmix
  PlanMix mix;
  std::vector<PlanFilter> filters;  ///< in order
  PlanHsv hsv;
  bool flipud = false;  ///< applied last: output row y shows row h-1-y
  bool fliplr = false;
  bool bgr = false;  ///< channels 0 and 2 swapped on the way out
  PlanRect erase;    ///< set to level 0 after everything else

  /// The plan as text, one fact a line, for `yoload explain`.
  std::string to_string() const;
};

}  // namespace yoload
