// SPDX-License-Identifier: Apache-2.0
#include "sampler/rect_batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace yoload {

RectBatches rect_batches(std::span<const ImageRecord> images, int batch_size, int imgsz, int stride,
                         double pad) {
  RectBatches result;
  const auto ratio = [&](uint32_t record) {
    return static_cast<double>(images[record].height_px) / images[record].width_px;
  };
  result.order.resize(images.size());
  std::iota(result.order.begin(), result.order.end(), 0u);
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](uint32_t a, uint32_t b) { return ratio(a) < ratio(b); });

  for (size_t first = 0; first < result.order.size(); first += static_cast<size_t>(batch_size)) {
    const size_t last = std::min(first + static_cast<size_t>(batch_size), result.order.size()) - 1;
    const double lowest = ratio(result.order[first]), highest = ratio(result.order[last]);
    double height = 1, width = 1;
    if (highest < 1) {
      height = highest;
    } else if (lowest > 1) {
      width = 1 / lowest;
    }
    const auto strides = [&](double side) {
      return static_cast<int>(std::ceil(side * imgsz / stride + pad)) * stride;
    };
    result.shapes.push_back({strides(height), strides(width)});
  }
  return result;
}

}  // namespace yoload
