// YOLO label text of every task: no crash, and every row that is kept is sane.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dataset/yolo_txt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace yoload;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  for (const Task task : {Task::detect, Task::segment, Task::pose, Task::obb}) {
    LabelRules rules;
    rules.task = task;
    rules.nc = 3;
    rules.kpt_count = task == Task::pose ? 2 : 0;
    rules.kpt_dims = task == Task::pose ? 3 : 0;
    const ParsedLabels labels = parse_yolo_txt(text, rules);
    for (const LabelRow& row : labels.rows) {
      const bool sane = row.cls >= 0 && row.cls < 3 && std::isfinite(row.x) &&
                        std::isfinite(row.y) && row.w > 0 && row.h > 0;
      if (!sane) std::abort();
    }
    if (task == Task::pose && labels.keypoints.size() != labels.rows.size() * 6) std::abort();
  }
  return 0;
}
