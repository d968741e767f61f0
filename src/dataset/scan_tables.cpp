// SPDX-License-Identifier: Apache-2.0
#include "dataset/scan_tables.h"

#include <algorithm>
#include <iterator>

namespace yoload {
namespace {

struct OwnedTables {
  std::vector<ImageRecord> images;
  std::vector<LabelState> states;
  std::vector<ImageRecord> left_out;
  std::vector<LabelRow> rows;
  std::vector<uint64_t> polygon_offsets;
  std::vector<float> polygon_points;
  std::vector<float> keypoints;
  std::vector<char> strings;
};

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

ImageRecord add_record(const ScannedPicture& picture, OwnedTables& tables) {
  ImageRecord record;
  record.path_offset = tables.strings.size();
  record.path_bytes = static_cast<uint32_t>(picture.path.size());
  tables.strings.insert(tables.strings.end(), picture.path.begin(), picture.path.end());
  record.file_bytes = picture.image.bytes;
  record.mtime_ns = picture.image.mtime_ns;
  record.width_px = picture.width_px;
  record.height_px = picture.height_px;
  record.first_row = tables.rows.size();
  return record;
}

void add_polygons(const ParsedLabels& labels, OwnedTables& tables) {
  for (size_t row = 0; row < labels.rows.size(); ++row) {
    const uint64_t points = labels.polygon_counts.empty() ? 0 : labels.polygon_counts[row];
    tables.polygon_offsets.push_back(tables.polygon_offsets.back() + points);
  }
  append(tables.polygon_points, labels.polygon_points);
}

}  // namespace

void ScanTables::show_in(DatasetIndex* index) const {
  index->images = images;
  index->rows = rows;
  index->polygon_offsets = polygon_offsets;
  index->polygon_points = polygon_points;
  index->keypoints = keypoints;
  index->strings = strings;
  index->storage = storage;
}

ScanTables build_tables(std::vector<ScannedPicture> pictures, Task task) {
  const auto owned = std::make_shared<OwnedTables>();
  const bool polygons = task == Task::segment || task == Task::obb;
  if (polygons) owned->polygon_offsets.push_back(0);
  ScanTables tables;
  for (ScannedPicture& picture : pictures) {
    ImageRecord record = add_record(picture, *owned);
    ParsedLabels& labels = picture.labels;
    const bool has_problems = !labels.problems.empty();
    std::move(labels.problems.begin(), labels.problems.end(), std::back_inserter(tables.problems));
    if (!picture.readable) {
      owned->left_out.push_back(record);
      continue;
    }
    record.rows = static_cast<uint32_t>(labels.rows.size());
    owned->images.push_back(record);
    owned->states.push_back({picture.label, picture.unused_label, has_problems});
    append(owned->rows, labels.rows);
    if (polygons) add_polygons(labels, *owned);
    append(owned->keypoints, labels.keypoints);
    labels = {};  // a big set must not stand in memory twice
  }
  tables.images = owned->images;
  tables.states = owned->states;
  tables.left_out = owned->left_out;
  tables.rows = owned->rows;
  tables.polygon_offsets = owned->polygon_offsets;
  tables.polygon_points = owned->polygon_points;
  tables.keypoints = owned->keypoints;
  tables.strings = owned->strings;
  tables.storage = owned;
  return tables;
}

ScannedPicture extract(const ScanTables& tables, size_t image, int kpt_count) {
  const ImageRecord& record = tables.images[image];
  const LabelState& state = tables.states[image];
  ScannedPicture picture;
  picture.path = tables.path_of(record);
  picture.image = {record.file_bytes, record.mtime_ns};
  picture.label = state.label;
  picture.width_px = record.width_px;
  picture.height_px = record.height_px;
  picture.unused_label = state.unused_label != 0;
  const auto rows = tables.rows.subspan(record.first_row, record.rows);
  picture.labels.rows.assign(rows.begin(), rows.end());
  if (!tables.polygon_offsets.empty()) {
    const auto offsets = tables.polygon_offsets.subspan(record.first_row, record.rows + size_t{1});
    for (size_t row = 0; row < record.rows; ++row) {
      picture.labels.polygon_counts.push_back(
          static_cast<uint32_t>(offsets[row + 1] - offsets[row]));
    }
    const auto points =
        tables.polygon_points.subspan(2 * offsets.front(), 2 * (offsets.back() - offsets.front()));
    picture.labels.polygon_points.assign(points.begin(), points.end());
  }
  if (!tables.keypoints.empty()) {
    const size_t values = static_cast<size_t>(kpt_count) * 3;
    const auto keypoints =
        tables.keypoints.subspan(record.first_row * values, record.rows * values);
    picture.labels.keypoints.assign(keypoints.begin(), keypoints.end());
  }
  return picture;
}

namespace {

ParsedLabels keep_classes(const ParsedLabels& labels, const std::vector<int>& classes,
                          int kpt_count) {
  ParsedLabels kept;
  const float* points = labels.polygon_points.data();
  for (size_t row = 0; row < labels.rows.size(); ++row) {
    const size_t values =
        labels.polygon_counts.empty() ? 0 : size_t{2} * labels.polygon_counts[row];
    const int cls = static_cast<int>(labels.rows[row].cls);
    if (std::find(classes.begin(), classes.end(), cls) != classes.end()) {
      kept.rows.push_back(labels.rows[row]);
      if (!labels.polygon_counts.empty()) {
        kept.polygon_counts.push_back(labels.polygon_counts[row]);
        kept.polygon_points.insert(kept.polygon_points.end(), points, points + values);
      }
      if (!labels.keypoints.empty()) {
        const float* first = labels.keypoints.data() + row * static_cast<size_t>(kpt_count) * 3;
        kept.keypoints.insert(kept.keypoints.end(), first, first + kpt_count * 3);
      }
    }
    points += values;
  }
  return kept;
}

}  // namespace

ScanTables filter_rows(const ScanTables& tables, const std::vector<int>& classes, bool single_cls,
                       Task task, int kpt_count) {
  std::vector<ScannedPicture> pictures;
  pictures.reserve(tables.images.size());
  for (size_t image = 0; image < tables.images.size(); ++image) {
    ScannedPicture picture = extract(tables, image, kpt_count);
    if (!classes.empty()) picture.labels = keep_classes(picture.labels, classes, kpt_count);
    for (LabelRow& row : picture.labels.rows) row.cls = single_cls ? 0 : row.cls;
    pictures.push_back(std::move(picture));
  }
  return build_tables(std::move(pictures), task);
}

}  // namespace yoload
