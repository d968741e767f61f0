// How far a JPEG may be shrunk while it is decoded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace yoload::decode {

/// 1, 2, 4 or 8: the largest divisor that leaves the longer side at `min_long_side_px` or more; 1
/// for a minimum of 0. libjpeg's odd steps (3/8, 5/8...) are left out: their inverse transforms are
/// not vectorised and slower than the full-size one.
inline int jpeg_shrink(int width_px, int height_px, int min_long_side_px) {
  if (min_long_side_px <= 0) return 1;
  const int long_side_px = std::max(width_px, height_px);
  for (const int shrink : {8, 4, 2}) {
    if ((long_side_px + shrink - 1) / shrink >= min_long_side_px) return shrink;
  }
  return 1;
}

}  // namespace yoload::decode
