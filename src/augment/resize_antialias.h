// Bilinear resizing with antialiasing, for classification: every output pixel is the
// triangle-weighted mean of what it covers.
//
// Pillow's geometry and arithmetic (weights of 22 bits, rounding to 8 bits between the horizontal
// and the vertical pass), so that pictures equal those of torchvision's Resize on PIL images.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.h"

namespace yoload {

/// Weights of one output position: of the `count` inputs from `first` on.
struct TriangleTaps {
  int first = 0;
  int count = 0;
  size_t weights = 0;  ///< index of the first weight
};

struct TriangleFilter {
  std::vector<TriangleTaps> taps;  ///< one per output position
  std::vector<int32_t> weights;    ///< in 1 / 2^22, a tap list sums to about 2^22
};

TriangleFilter triangle_filter(int in, int out);

void resize_antialiased(ImageView source, MutableImageView target);

}  // namespace yoload
