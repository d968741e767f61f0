// Reads one YOLO label file: boxes, polygons, keypoints or oriented boxes, one object a line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "dataset/parsed_labels.h"

namespace yoload {

/// What the rows of a data set have to look like.
struct LabelRules {
  Task task = Task::detect;
  int nc = 0;  ///< number of classes; 0 is unknown: any class below kMaxClasses
  int kpt_count = 0, kpt_dims = 0;
  bool single_cls = false;  ///< every class becomes 0
};

/// More classes than any set has; keeps one absurd class number from allocating a name table.
inline constexpr int kMaxClasses = 100'000;

/// Objects of one label file. A bad row costs that row and leaves a Problem with its line number;
/// `path` of the problems is left empty. Independent of the locale. Rules:
/// - detect, segment: `cls x y w h` or `cls x1 y1 x2 y2 x3 y3 ...`, freely mixed. Polygons are kept
///   for segment only. A segment row without a polygon stays only if its file has polygons: a file
///   of boxes alone is a detection label.
/// - pose: `cls x y w h` and kpt_count x (x, y[, visibility]). A keypoint outside the picture
///   becomes invisible.
/// - obb: `cls` and four corners, or an upright box. Corners may leave the picture: clipping one
///   would turn the box.
/// - Box and polygon coordinates up to 1 % outside the picture are clipped.
ParsedLabels parse_yolo_txt(std::string_view text, const LabelRules& rules);

}  // namespace yoload
