// One sample of a batch as a picture and a list of objects that can be drawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "yoload/drawing.h"
#include "yoload/loader.h"
#include "yoload/rgb_image.h"

namespace yoload::cli {

/// Pixels of sample `sample`: gray is repeated, of more than three channels the first three are
/// shown, float levels are taken as fractions of 1.
RgbImage sample_image(const Batch& batch, int sample);

struct DrawnObject {
  int cls = 0;
  Point centre, half;            ///< output pixels
  float angle = 0;               ///< radians, OBB
  int mask_value = 0;            ///< instance number in an overlap mask, 1-based
  std::vector<Point> keypoints;  ///< visible ones, output pixels
};

std::vector<DrawnObject> sample_objects(const Batch& batch, int sample);

/// Colour of a class: well apart for neighbouring numbers, readable on photos.
Rgb class_colour(int cls);

/// Draws boxes, masks, keypoints and class names of sample `sample` on `image`, which shows the
/// sample at any size. `names` may be shorter than the largest class.
void draw_labels(const Batch& batch, int sample, const std::vector<std::string>& names,
                 RgbImage* image);

}  // namespace yoload::cli
