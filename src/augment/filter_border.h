// What filters see beyond the border of a picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/host_device.h"

namespace yoload {

/// Index mirrored at the border without repeating the edge: -1 -> 1, n -> n - 2.
YOLOAD_HD inline int mirrored(int i, int n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
  return i;
}

/// Index clamped at the border.
YOLOAD_HD inline int repeated(int i, int n) {
  return i < 0 ? 0 : i < n ? i : n - 1;
}

}  // namespace yoload
