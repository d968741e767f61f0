// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "decode/jpeg/ycc_rows.h"

namespace yoload::decode::jpeg::scalar {

void sum_rows(const uint8_t* near, const uint8_t* far, int width, int16_t* sums) {
  for (int x = 0; x < width; ++x) sums[x] = static_cast<int16_t>(3 * near[x] + far[x]);
  sums[-1] = sums[0];
  sums[width] = sums[width - 1];
}

void blend_rows(const uint8_t* near, const uint8_t* far, int width, int rounding, uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    out[x] = static_cast<uint8_t>((3 * near[x] + far[x] + rounding) >> 2);
  }
}

void widen_row(const int16_t* sums, int width, Rounding rounding, uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    out[2 * x] = static_cast<uint8_t>((3 * sums[x] + sums[x - 1] + rounding.even) >> 4);
    out[2 * x + 1] = static_cast<uint8_t>((3 * sums[x] + sums[x + 1] + rounding.odd) >> 4);
  }
}

void half_ycc_to_rgb(int width_px, const uint8_t* luma, const HalfChroma& chroma, const Rows& rgb) {
  const int columns = (width_px + 1) / 2;
  std::vector<uint8_t> cb(static_cast<size_t>(columns) * 2);
  std::vector<uint8_t> cr(cb.size());
  scalar::widen_row(chroma.cb_sums, columns, chroma.rounding, cb.data());
  scalar::widen_row(chroma.cr_sums, columns, chroma.rounding, cr.data());
  decode::scalar::ycc_to_rgb(width_px, {luma, cb.data(), cr.data()}, rgb);
}

}  // namespace yoload::decode::jpeg::scalar
