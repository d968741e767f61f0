// What a scan found, as flat tables: the arrays of the index and what the label cache needs beside.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dataset_index.h"
#include "dataset/discovery.h"
#include "dataset/parsed_labels.h"

namespace yoload {

/// One picture as the scan leaves it.
struct ScannedPicture {
  std::string path;  ///< as stored: relative to the root, or absolute
  FileKey image, label;
  int32_t width_px = 0, height_px = 0;
  bool readable = true;
  bool unused_label = false;  ///< no label, but a .txt beside the picture
  ParsedLabels labels;
};

/// The label side of one picture, in step with ScanTables::images.
struct LabelState {
  FileKey label;
  uint8_t unused_label = 0;
  uint8_t has_problems = 0;
  uint8_t padding[6] = {};  // written to the cache: no stray bytes
};
static_assert(sizeof(LabelState) == 24);

/// Read-only views; copies share the storage.
struct ScanTables {
  std::span<const ImageRecord> images;
  std::span<const LabelState> states;
  std::span<const ImageRecord> left_out;  ///< pictures that cannot be read
  std::span<const LabelRow> rows;
  std::span<const uint64_t> polygon_offsets;
  std::span<const float> polygon_points;
  std::span<const float> keypoints;
  std::span<const char> strings;
  std::vector<Problem> problems;
  std::shared_ptr<const void> storage;

  std::string_view path_of(const ImageRecord& record) const {
    return {strings.data() + record.path_offset, record.path_bytes};
  }
  /// Points the index at these tables and keeps them alive.
  void show_in(DatasetIndex* index) const;
};

/// Tables of the pictures, in their order. Takes the labels out of `pictures`.
ScanTables build_tables(std::vector<ScannedPicture> pictures, Task task);

/// The picture at `image` as a scan would return it. Problems are not taken along.
ScannedPicture extract(const ScanTables& tables, size_t image, int kpt_count);

/// Tables with the rows of `classes` only (all rows if empty), class 0 for all if `single_cls`.
ScanTables filter_rows(const ScanTables& tables, const std::vector<int>& classes, bool single_cls,
                       Task task, int kpt_count);

}  // namespace yoload
