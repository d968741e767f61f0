// SPDX-License-Identifier: Apache-2.0
#include "core/dataset_index.h"

#include <array>

namespace yoload {

std::string_view name(Task task) {
  constexpr std::array<std::string_view, 5> kNames = {"detect", "segment", "pose", "obb",
                                                      "classify"};
  return kNames.at(static_cast<size_t>(task));
}

std::optional<Task> task_named(std::string_view text) {
  for (const Task task : {Task::detect, Task::segment, Task::pose, Task::obb, Task::classify}) {
    if (text == name(task)) return task;
  }
  return std::nullopt;
}

std::string DatasetIndex::path(size_t image) const {
  const std::string_view relative = relative_path(image);
  if (relative.starts_with('/') || root.empty()) return std::string(relative);
  return root + "/" + std::string(relative);
}

}  // namespace yoload
