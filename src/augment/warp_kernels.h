// Vector kernels for maps that turn or tilt the picture: coordinates of a row, and pixels by
// gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"

namespace yoload {

/// canvas_position(map, first_ox + i * step, oy) for i < n. `step` is 1, or -1 for a mirrored row.
/// Writes up to 7 entries past n.
void position_row(const InverseMap& map, int first_ox, int step, int oy, size_t n, int64_t* cx,
                  int64_t* cy);

/// One channel of a picture, placed on a plane that pixel positions refer to.
struct PlacedPlane {
  const uint8_t* pixels = nullptr;
  size_t stride_bytes = 0;
  int last_row = 0;                ///< the row below it is itself
  int offset_x = 0, offset_y = 0;  ///< position of pixel (0, 0)
};

/// out[i] = the level at Q32 position (cx[i], cy[i]), blended as plan.h says. The left neighbour
/// and its row must lie in the picture; where the right one or the row below does not, the weight
/// is 0. Reads up to 3 bytes past the right neighbour, which is what kReadPadding is for.
void gather_row(const PlacedPlane& plane, const int64_t* cx, const int64_t* cy, size_t n,
                uint8_t* out);

}  // namespace yoload
