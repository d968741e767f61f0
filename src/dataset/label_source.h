// Where the labels of a picture come from: the scan knows label formats through this alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/image_info.h"
#include "dataset/parsed_labels.h"

namespace yoload {

/// Thread-safe: the scan asks from several threads.
class LabelSource {
 public:
  virtual ~LabelSource() = default;

  /// Objects of the picture at a path; problems name the file they are about.
  virtual ParsedLabels labels_of(const std::string& image_path, const ImageInfo& info) = 0;

  /// The file that holds the labels of this one picture, whether it exists or not; empty where a
  /// format has no such file.
  virtual std::string label_file_of(const std::string& image_path) const {
    (void)image_path;
    return {};
  }

  /// What else the labels rest on, as text: cached labels of another identity are not used.
  virtual std::string identity() const { return {}; }
};

}  // namespace yoload
