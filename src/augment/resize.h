// Bilinear resizing of a decoded picture to training size.
//
// cv2.resize INTER_LINEAR's geometry: pixel centres at half positions, edges repeated, no
// antialiasing. Weights have 15 bits (OpenCV: 11), so the result is within 1 level of both OpenCV
// and exact arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augment/run.h"
#include "core/image.h"

namespace yoload {

/// One obvious loop. Same bytes as resize_bilinear_simd.
void resize_bilinear_ref(ImageView source, MutableImageView target);
void resize_bilinear_simd(ImageView source, MutableImageView target, RenderScratch* scratch);

}  // namespace yoload
