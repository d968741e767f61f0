// The arithmetic of one pixel in the form that a GPU likes: the levels of pixel.h by other means.
//
// Note [Floats that are whole numbers]. Multiplications of floats run at four times the rate of
// conversions and twice that of whole numbers, and every value here is a whole number below 2^24
// or a short binary fraction, so that float arithmetic is exact. Rounding is asked for where it is
// wanted: adding 2^23 towards zero is floor, adding 1.5 * 2^23 to the nearest is round. The CPU
// builds of these functions say floor and round plainly; both are the same number, so the host
// test speaks for the kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "augment/flat_plan.h"
#include "device/host_device.h"

namespace yoload::flat {

template <class T>
YOLOAD_HD inline T lesser(T a, T b) {
  return b < a ? b : a;
}
template <class T>
YOLOAD_HD inline T greater(T a, T b) {
  return a < b ? b : a;
}

// Of numbers, not NaN.
YOLOAD_HD inline float lesser(float a, float b) {
#ifdef __CUDA_ARCH__
  return fminf(a, b);
#else
  return b < a ? b : a;
#endif
}
YOLOAD_HD inline float greater(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b);
#else
  return a < b ? b : a;
#endif
}

// Coordinates, Q32. -------------------------------------------------------------------------------

YOLOAD_HD inline int whole_of(int64_t coordinate) {
  return static_cast<int>(coordinate >> 32);
}
/// weight_of_q32 of pixel.h: the low word is enough.
YOLOAD_HD inline int weight_of(int64_t coordinate) {
  return static_cast<int>(static_cast<uint32_t>(coordinate) >> 17);
}

struct Position {
  int64_t x, y;
};

/// A level of a picture, which no kernel writes while another reads it.
YOLOAD_HD inline int pixel_at(const uint8_t* at) {
#ifdef __CUDA_ARCH__
  return __ldg(at);
#else
  return *at;
#endif
}

/// canvas_position of pixel.h for maps without perspective.
YOLOAD_HD inline Position affine_position(const FlatLayer& map, int ox, int oy) {
  return {map.xx * ox + map.xy * oy + map.x0, map.yx * ox + map.yy * oy + map.y0};
}

YOLOAD_HD inline int64_t saturated_q32(double value) {
  const double scaled = floor(value * 0x1p32);
  if (!(scaled > -0x1p50)) return -(int64_t{1} << 50);  // also NaN
  return static_cast<int64_t>(lesser(scaled, 0x1p50));
}

YOLOAD_HD inline Position canvas_position(const FlatLayer& map, int ox, int oy) {
  if (!map.perspective) return affine_position(map, ox, oy);
  const double x = ox, y = oy;
  const double u = (map.h[0] * x + map.h[1] * y) + map.h[2];
  const double v = (map.h[3] * x + map.h[4] * y) + map.h[5];
  const double w = (map.h[6] * x + map.h[7] * y) + map.h[8];
  return {saturated_q32(u / w), saturated_q32(v / w)};
}

/// Two neighbours along one axis: the first, how far the second is, and its weight.
struct Neighbours {
  int first, step, weight;
};

YOLOAD_HD inline Neighbours exact_neighbours(int64_t canvas) {
  return {whole_of(canvas), 1, weight_of(canvas)};
}

/// fused_coordinate of pixel.h and what it samples. At the last pixel the coordinate is clamped to
/// a whole number, so the second neighbour has no weight.
YOLOAD_HD inline Neighbours fused_neighbours(int64_t canvas, int offset, int64_t step, int pixels) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  const int64_t inside = canvas - (static_cast<int64_t>(offset) << 32) + kHalf;
  const auto scaled = static_cast<int64_t>((static_cast<__int128>(inside) * step) >> 32);
  const int64_t last = static_cast<int64_t>(pixels - 1) << 32;
  const int64_t at = lesser(greater(scaled - kHalf, int64_t{0}), last);
  return {whole_of(at), whole_of(at) + 1 < pixels ? 1 : 0, weight_of(at)};
}

// Levels as floats. -------------------------------------------------------------------------------

/// floor(a * b) for products in [0, 2^23) that have no more than 48 bits.
YOLOAD_HD inline float floor_of_product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmaf_rz(a, b, 0x1p23f) - 0x1p23f;
#else
  return static_cast<float>(std::floor(static_cast<double>(a) * static_cast<double>(b)));
#endif
}

/// a * b + c where rounding the product changes nothing that matters: see the callers.
YOLOAD_HD inline float product_sum(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return a * b + c;
#endif
}

/// Rounds to a whole number when added and taken away again, for sizes below 2^22.
inline constexpr float kRoundMagic = 0x1.8p23f;

/// floor(a * b + 1/2) for products in steps of 2^-12 below 2^10.
YOLOAD_HD inline float nearest_whole(float a, float b) {
  return (product_sum(a, b, 0x1p-13f) + kRoundMagic) - kRoundMagic;
}

/// sum >> 22 as a float.
YOLOAD_HD inline float level_of_sum(uint32_t sum) {
#ifdef __CUDA_ARCH__
  // One shift puts the level behind the sign and exponent of 2^23.
  return __uint_as_float(__funnelshift_r(sum, 0x4b000000u >> 10, 22)) - 0x1p23f;
#else
  return static_cast<float>(sum >> 22);
#endif
}

/// Bilinear blend of four levels: level_of_q7(lerp_q7(..)) of pixel.h, vertical first. With a Q7
/// level a << 7 the vertical blend is floor((a * (2^15 - w) + b * w + 2^7) / 2^8); the horizontal
/// one and the rounding to a level are two floors of a sum, which one shift does.
YOLOAD_HD inline float blended(int top_left, int top_right, int bottom_left, int bottom_right,
                               int wx, int wy) {
  const int left = (top_left * (32768 - wy) + bottom_left * wy + 128) >> 8;
  const int right = (top_right * (32768 - wy) + bottom_right * wy + 128) >> 8;
  return level_of_sum(
      static_cast<uint32_t>(left * (32768 - wx) + right * wx + (1 << 14) + (64 << 15)));
}

/// `mixed` of pixel.h: both products are whole numbers below 2^24.
YOLOAD_HD inline float mixed(float a, float b, uint32_t weight_q16) {
  const auto first = static_cast<uint32_t>(a) * weight_q16;
  return static_cast<float>((first + static_cast<uint32_t>(b) * (65536 - weight_q16)) >> 16);
}

YOLOAD_HD inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));  // off by 2^-23 at most
  return y;
#else
  return 1.0f / x;
#endif
}

/// hsv_pixel of pixel.h. Saturation and hue come from one reciprocal, Note [One reciprocal] in
/// hsv_kernel.cpp; both tests go through every value and range.
///
/// A channel's weight min(max(min(k, 120 - k), 0), 30) with k = (hue + turn) mod 180 is 30 less the
/// part between 30 and 60 of the distance of the hue, around the circle of 180, from where k = 60:
/// 90, 150 and 30 for red, green and blue. The distances need no modulo.
YOLOAD_HD inline void hsv_levels(const FlatSample& sample, float* red, float* green, float* blue) {
  const float r = *red, g = *green, b = *blue;
  const float value = greater(greater(r, g), b);
  const float range = value - lesser(lesser(r, g), b);
  const float v = greater(value, 1.0f), c = greater(range, 1.0f);
  const float inverse = reciprocal(v * c);
  const float sat_step = product_sum(c * inverse, 1044480.0f, kRoundMagic) - kRoundMagic;
  const float hue_step = product_sum(v * inverse, 122880.0f, kRoundMagic) - kRoundMagic;
  // All three are worked out: a choice of numbers costs less than a branch.
  const float near_red = g - b, near_green = product_sum(2.0f, range, b - r),
              near_blue = product_sum(4.0f, range, r - g);
  const float sector = value == r ? near_red : value == g ? near_green : near_blue;
  const float sat = nearest_whole(range * 0x1p-12f, sat_step);
  float hue = nearest_whole(sector * 0x1p-12f, hue_step) + sample.hue_shift;  // -30 .. 329
  hue = hue < 0.0f ? hue + 180.0f : hue;
  hue = hue >= 180.0f ? hue - 180.0f : hue;
  const float new_sat = lesser(floor_of_product(sat, sample.sat_gain), 255.0f);
  const float new_value = lesser(floor_of_product(value, sample.val_gain), 255.0f);
  const float chroma = new_value * new_sat;
  const auto channel = [&](float distance) {
    const float weight = lesser(greater(60.0f - distance, 0.0f), 30.0f);
    // 2184 / 2^16, then 257 / 2^16.
    const float scaled = floor_of_product(chroma * weight, 273.0f / 8192);
    return new_value - floor_of_product(scaled + 130.0f, 257.0f / 65536);
  };
  *red = channel(fabsf(hue - 90.0f));
  *green = channel(fabsf(fabsf(hue - 60.0f) - 90.0f));
  *blue = channel(fabsf(fabsf(hue - 120.0f) - 90.0f));
}

}  // namespace yoload::flat
