// Rectangular batches: pictures of similar aspect ratio together, padded as little as possible.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/dataset_index.h"

namespace yoload {

struct BatchShape {
  int height_px = 0;
  int width_px = 0;
};

/// Order and shapes of SEMANTICS section 9: pictures sorted by height / width (ties by record), a
/// batch's shape from its extreme ratios, rounded up to strides with `pad` strides around.
struct RectBatches {
  std::vector<uint32_t> order;     ///< position -> record
  std::vector<BatchShape> shapes;  ///< one per batch
};

/// `order` may give the order among equal ratios another way: a permutation of the pictures that is
/// sorted by ratio. Empty: ties by record.
RectBatches rect_batches(std::span<const ImageRecord> images, std::span<const int> order,
                         int batch_size, int imgsz, int stride, double pad);

/// Is it a permutation of the pictures that is sorted by ratio?
bool is_rect_order(std::span<const ImageRecord> images, std::span<const int> order);

}  // namespace yoload
