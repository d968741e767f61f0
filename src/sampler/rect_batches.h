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

RectBatches rect_batches(std::span<const ImageRecord> images, int batch_size, int imgsz, int stride,
                         double pad);

}  // namespace yoload
