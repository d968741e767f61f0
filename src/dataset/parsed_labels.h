// What every label reader (YOLO text, COCO, VOC, DOTA) returns for one picture, and how it
// complains. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dataset_index.h"

namespace yoload {

/// One thing that is wrong or odd with a file of the data set.
struct Problem {
  enum class Severity : uint8_t { note, warning, error };
  Severity severity = Severity::error;
  std::string kind;  ///< short stable key for counting, e.g. "class_out_of_range", "orphan_label"
  std::string path;
  uint32_t line = 0;  ///< 1-based; 0 where lines have no meaning
  std::string cause;  ///< for people
  std::string
      reference;  ///< how the reference treats it, e.g. "drops the whole image"; may be empty
};

/// Objects of one picture, normalised by its upright size. Columns are in step.
struct ParsedLabels {
  std::vector<LabelRow> rows;
  std::vector<uint32_t> polygon_counts;  ///< points per row; empty when no row has a polygon
  std::vector<float> polygon_points;     // P,2
  std::vector<float> keypoints;          // rows,K,3 (pose only)
  std::vector<Problem> problems;
};

}  // namespace yoload
