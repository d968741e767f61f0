// SPDX-License-Identifier: Apache-2.0
#include "sampler/rect_batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace yoload {

namespace {

double ratio_of(const ImageRecord& image) {
  return static_cast<double>(image.height_px) / image.width_px;
}

}  // namespace

bool is_rect_order(std::span<const ImageRecord> images, std::span<const int> order) {
  if (order.size() != images.size()) return false;
  std::vector<bool> seen(images.size());
  double last = 0;
  for (const int record : order) {
    const auto i = static_cast<size_t>(record);
    if (record < 0 || i >= images.size() || seen[i] || ratio_of(images[i]) < last) return false;
    seen[i] = true;
    last = ratio_of(images[i]);
  }
  return true;
}

RectBatches rect_batches(std::span<const ImageRecord> images, std::span<const int> order,
                         int batch_size, int imgsz, int stride, double pad) {
  RectBatches result;
  const auto ratio = [&](uint32_t record) { return ratio_of(images[record]); };
  if (order.empty()) {
    result.order.resize(images.size());
    std::iota(result.order.begin(), result.order.end(), 0u);
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](uint32_t a, uint32_t b) { return ratio(a) < ratio(b); });
  } else {
    result.order.assign(order.begin(), order.end());
  }

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
