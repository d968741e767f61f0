// Pictures and labels that a program already has: a data set without files of its own format.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yoload {

/// What the four numbers of a box are. Polygons and keypoints are in the same unit.
enum class BoxFormat : uint8_t {
  xywhn,  ///< centre and size, as fractions of the picture (YOLO)
  xyxyn,  ///< two corners, as fractions
  xyxy,   ///< two corners in pixels
  xywh,   ///< top left corner and size in pixels (COCO)
};

/// One picture with its n objects. Columns are in step; those that a task does not need are empty.
struct Record {
  std::string path;                      ///< file to read, or just a name where `contents` is given
  std::vector<uint8_t> contents;         ///< bytes of a picture file; empty: read from `path`
  std::vector<float> cls;                // n
  std::vector<float> boxes;              // n,4; empty where polygons give the boxes
  std::vector<uint32_t> polygon_counts;  // n: points of each object, 0 for none; OBB: 4
  std::vector<float> polygon_points;     // P,2
  std::vector<float> keypoints;          // n,K,3: x, y, visibility 0, 1 or 2
};

struct RecordSet {
  std::string task = "detect";     ///< detect, segment, pose, obb, classify
  std::vector<std::string> names;  ///< of the classes; decides how many there are
  int channels = 3;
  int kpt_count = 0;          ///< pose
  std::vector<int> flip_idx;  ///< pose: keypoint order after a horizontal flip, or empty
  BoxFormat box_format = BoxFormat::xywhn;
  std::vector<Record> records;
};

}  // namespace yoload
