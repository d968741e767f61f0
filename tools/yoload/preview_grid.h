// A grid of finished samples with their labels drawn, captions and a legend of the classes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "yoload/loader.h"
#include "yoload/rgb_image.h"

namespace yoload {
struct DatasetIndex;
}

namespace yoload::cli {

struct GridOptions {
  uint32_t epoch = 0;
  int count = 16;
  int tile_px = 400;  ///< longest side of a sample
  std::string title;
};

/// "coco256   train   epoch 0   640 px"
std::string grid_title(const LoaderOptions& options, uint32_t epoch);

/// Takes the first `count` samples of the epoch through Loader::next. Throws what that throws.
RgbImage make_preview_grid(Loader* loader, const GridOptions& options);
/// The same of one batch that is there already.
RgbImage make_batch_grid(const Batch& batch, const DatasetIndex& index, const GridOptions& options);

}  // namespace yoload::cli
