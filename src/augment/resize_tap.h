// Where bilinear resizing looks: the arithmetic that the executors of resize.h share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "device/host_device.h"

namespace yoload {

struct ResizeTap {
  int first = 0, second = 0, weight_q15 = 0;
};

/// Source pixels per output pixel, Q32.
inline int64_t resize_step(int from, int to) {
  return (static_cast<int64_t>(from) << 32) / to;
}

/// Where output `i` samples `from` pixels.
YOLOAD_HD inline ResizeTap resize_tap(int i, int64_t step, int from) {
  // (i + 1/2) * step - 1/2 in Q32.
  int64_t at = (2 * static_cast<int64_t>(i) + 1) * step / 2 - (int64_t{1} << 31);
  const int64_t last = static_cast<int64_t>(from - 1) << 32;
  at = at < 0 ? 0 : at < last ? at : last;
  const int first = static_cast<int>(at >> 32);
  return {first, first + 1 < from ? first + 1 : from - 1, static_cast<int>((at >> 17) & 0x7fff)};
}

}  // namespace yoload
