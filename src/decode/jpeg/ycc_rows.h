// Single rows of samples: chroma interpolated up to the luma's size, and Y, Cb, Cr to R, G, B, each
// in one pass over the row and bit-identical to libjpeg-turbo.
//
// Interpolation is the triangle filter: a new sample is 3/4 of the nearer and 1/4 of the farther
// old one. In two directions it is done on unrounded sums, first down the column, then along the
// row:
//   sum[x] = 3 near[x] + far[x]                  of the nearer and the farther row
//   out[2x] = (3 sum[x] + sum[x-1] + even) / 16, out[2x+1] = (3 sum[x] + sum[x+1] + odd) / 16
// The two roundings differ in turn, so that there is no drift (libjpeg's "ordered dither"). Where
// only the row is interpolated, near and far are the same row and the roundings are other ones.
//
// All vector functions read and write up to a multiple of 32 samples, except that R, G and B rows
// are written only up to a multiple of 16. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/row_kernels.h"

namespace yoload::decode::jpeg {

/// What is added before the division by 16.
struct Rounding {
  int16_t even;
  int16_t odd;
};
inline constexpr Rounding kBothWays{8, 7};
inline constexpr Rounding kAlongTheRow{4, 8};  // 1/4 and 2/4 of the sums' 4

/// 3 near + far. sums[-1] and sums[width] repeat the first and the last one: what the row's filter
/// takes for neighbours.
void sum_rows(const uint8_t* near, const uint8_t* far, int width, int16_t* sums);

/// (3 near + far + rounding) / 4: interpolation down the column only. libjpeg rounds with 1 in the
/// upper and with 2 in the lower of the two rows around `near`.
void blend_rows(const uint8_t* near, const uint8_t* far, int width, int rounding, uint8_t* out);

/// `width` sums to 2 * width samples.
void widen_row(const int16_t* sums, int width, Rounding rounding, uint8_t* out);

/// Three rows of full width.
void full_ycc_to_rgb(int width_px, const ConstRows& ycc, const Rows& rgb);

/// Full luma, chroma as sums of ceil(width_px / 2) columns.
struct HalfChroma {
  const int16_t* cb_sums;
  const int16_t* cr_sums;
  Rounding rounding;
};
void half_ycc_to_rgb(int width_px, const uint8_t* luma, const HalfChroma& chroma, const Rows& rgb);

namespace scalar {
void sum_rows(const uint8_t* near, const uint8_t* far, int width, int16_t* sums);
void blend_rows(const uint8_t* near, const uint8_t* far, int width, int rounding, uint8_t* out);
void widen_row(const int16_t* sums, int width, Rounding rounding, uint8_t* out);
void half_ycc_to_rgb(int width_px, const uint8_t* luma, const HalfChroma& chroma, const Rows& rgb);
}  // namespace scalar

}  // namespace yoload::decode::jpeg
