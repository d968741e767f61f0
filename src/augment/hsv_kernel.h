// Hue, saturation and value of a row of pixels, with run-time dispatch. hsv_pixel is the scalar
// twin. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/plan.h"

namespace yoload {

/// PlanHsv on n pixels in place.
void hsv_row(const PlanHsv& hsv, size_t n, uint8_t* r, uint8_t* g, uint8_t* b);

}  // namespace yoload
