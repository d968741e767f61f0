// Turns what the user calls the data set into a list of pictures and a source of labels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dataset/data_yaml.h"
#include "dataset/dataset.h"
#include "dataset/discovery.h"
#include "dataset/label_source.h"

namespace yoload {

struct DatasetSource {
  Task task = Task::detect;
  std::string data;  ///< absolute path of what was named
  std::string root;  ///< folder that stored paths are relative to
  DataYaml yaml;     ///< nc is 0 where nothing names the classes
  PictureList pictures;
  std::unique_ptr<LabelSource> labels;
  bool strict_labels = false;  ///< a bad row costs the whole picture
};

Result<DatasetSource> resolve_source(const DatasetOptions& options);

}  // namespace yoload
