// VOC annotations: no crash, no expansion of entities, boxes inside the picture.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataset/dota_txt.h"
#include "dataset/voc_xml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace yoload;
  ImageInfo info;
  info.width_px = 640, info.height_px = 480;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  for (const ParsedLabels& labels : {parse_voc(text, "f.xml", info, {"nut", "bolt"}),
                                     parse_dota(text, "f.txt", info, {"nut", "bolt"})}) {
    for (const LabelRow& row : labels.rows) {
      if (!(row.w > 0 && row.h > 0 && row.w <= 1 && row.h <= 1 && row.x >= 0 && row.x <= 1))
        std::abort();
    }
  }
  return 0;
}
