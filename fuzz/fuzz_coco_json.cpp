// COCO files: refused or read, no path outside of the folder, boxes inside the picture.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "dataset/coco_json.h"
#include "file_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace yoload;
  const std::string path = fuzzing::write("labels.json", data, bytes);
  ImageInfo info;
  info.width_px = 640, info.height_px = 480;
  for (const Task task : {Task::segment, Task::pose}) {
    const auto coco = open_coco(path, fuzzing::folder() + "/images", "train", task);
    if (!coco.ok()) continue;
    for (const std::string& picture : coco->pictures.paths) {
      if (picture.find("..") != std::string::npos) std::abort();
      for (const LabelRow& row : coco->labels->labels_of(picture, info).rows) {
        if (!(row.w > 0 && row.h > 0 && row.w <= 1 && row.h <= 1)) std::abort();
      }
    }
  }
  return 0;
}
