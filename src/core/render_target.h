// Where an executor writes one sample: a slot in a batch buffer that the consumer owns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "yoload/options.h"

namespace yoload {

/// C,H,W elements of `dtype`, planes and rows contiguous: row_stride = width, plane_stride = height
/// x width. Float outputs hold level * mul[c] + add[c], computed as one float product and one float
/// sum.
struct RenderTarget {
  void* data = nullptr;
  int width_px = 0;
  int height_px = 0;
  int channels = 3;
  DType dtype = DType::uint8;
  std::array<float, 3> mul = {1, 1, 1};  ///< channel c uses entry min(c, 2)
  std::array<float, 3> add = {0, 0, 0};
};

inline size_t bytes_of(DType dtype) {
  return dtype == DType::uint8 ? 1 : dtype == DType::float32 ? 4 : 2;
}

}  // namespace yoload
