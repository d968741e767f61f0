// Segment masks: polygons filled at 1/mask_ratio of the picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/labels.h"

namespace yoload {

/// Sets every cell of a width x height map that the polygon covers to `value`: corners are
/// truncated to whole pixels, the inside is filled by the even-odd rule and the outline belongs to
/// it, as cv2.fillPoly does. `polygon` alternates x and y.
void fill_polygon(std::span<const float> polygon, int32_t value, int width_px, int height_px,
                  int32_t* map);

/// Makes labels->mask from labels->polygons. Objects whose mask vanishes are dropped and counted,
/// so that instance numbers and rows always agree. With `overlap` the objects are reordered,
/// largest mask first, and a later, smaller one covers an earlier one.
void rasterise_masks(int out_width_px, int out_height_px, int mask_ratio, bool overlap,
                     SampleLabels* labels);

}  // namespace yoload
