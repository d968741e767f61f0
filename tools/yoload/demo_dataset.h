// Draws the demo's data set to disk: JPEG files, YOLO labels and a data.yaml.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace yoload::cli {

struct DemoDataset {
  std::string folder;
  int train_images = 160;
  int val_images = 32;
  int width_px = 800, height_px = 600;
  uint64_t seed = 7;
  int threads = 0;  ///< 0 takes what this process may use
};

/// Path of the data.yaml. A folder that already holds exactly this data set is left as it is; one
/// that holds anything else than an older demo data set is never written to. Throws
/// std::runtime_error with the path and the cause.
std::string make_demo_dataset(const DemoDataset& wanted);

}  // namespace yoload::cli
