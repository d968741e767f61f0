// Contrast-limited adaptive histogram equalisation of one channel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/image.h"

namespace yoload {

/// Zuiderveld's method (Graphics Gems IV, 1994) with the details of cv2.createCLAHE: a histogram a
/// tile, counts over clip_limit * pixels / 256 spread over all levels, the four nearest tiles'
/// tables blended at each pixel. In place. Sizes that the tiles do not divide get uneven tiles,
/// where OpenCV enlarges the picture.
void equalise_adaptively(MutableImageView picture, int channel, int tiles_per_side,
                         double clip_limit);

}  // namespace yoload
