// The label sources of the YOLO world: one text file per picture, or one folder per class.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataset/label_source.h"
#include "dataset/yolo_txt.h"

namespace yoload {

std::unique_ptr<LabelSource> yolo_txt_labels(const LabelRules& rules);

/// Every picture below `root`/NAME is of class NAME; its one row covers the whole picture.
std::unique_ptr<LabelSource> class_folder_labels(const std::string& root,
                                                 const std::vector<std::string>& names);

}  // namespace yoload
