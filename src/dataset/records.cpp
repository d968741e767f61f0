// SPDX-License-Identifier: Apache-2.0
#include "dataset/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/machine.h"
#include "dataset/discovery.h"
#include "dataset/pixel_box.h"
#include "dataset/scan.h"

namespace yoload {
namespace {

Status misuse(std::string message) {
  return Status(Code::invalid_argument, Stage::dataset, std::move(message));
}

/// Columns in step, classes that exist.
Status check_columns(const RecordSet& set, Task task, size_t number) {
  const Record& record = set.records[number];
  const size_t n = record.cls.size();
  const auto wrong = [&](const char* column, const std::string& got, const std::string& expected) {
    return misuse(fmt::format("records[{}] ({}): {}: {}; expected {}", number, record.path, column,
                              got, expected));
  };
  const auto length = [&](const char* column, size_t got, size_t expected) {
    return wrong(column, fmt::format("{} numbers", got),
                 fmt::format("{} for {} objects", expected, n));
  };
  if (record.path.empty() && record.contents.empty()) {
    return wrong("path", "empty", "a path or the contents of a picture file");
  }
  if (task == Task::classify && n != 1) return wrong("cls", fmt::format("{} values", n), "one");
  const size_t polygons = record.polygon_counts.size();
  if (polygons != 0 && polygons != n) return length("polygon_counts", polygons, n);
  const size_t points =
      std::accumulate(record.polygon_counts.begin(), record.polygon_counts.end(), size_t{0});
  if (record.polygon_points.size() != 2 * points) {
    return length("polygon_points", record.polygon_points.size(), 2 * points);
  }
  for (const uint32_t count : record.polygon_counts) {
    if (task == Task::obb ? count != 4 : count == 1 || count == 2) {
      return wrong("polygons", fmt::format("{} points", count),
                   task == Task::obb ? "four corners" : "at least three");
    }
  }
  if (task == Task::obb && polygons != n) return wrong("polygons", "none", "four corners each");
  const bool boxed = !record.boxes.empty() || polygons == 0;
  if (task != Task::classify && boxed && record.boxes.size() != 4 * n) {
    return length("boxes", record.boxes.size(), 4 * n);
  }
  const size_t keypoints = task == Task::pose ? n * static_cast<size_t>(set.kpt_count) * 3 : 0;
  if (record.keypoints.size() != keypoints) {
    return length("keypoints", record.keypoints.size(), keypoints);
  }
  for (const float cls : record.cls) {
    if (cls != std::floor(cls) || cls < 0 || cls >= static_cast<float>(set.names.size())) {
      return wrong("cls", fmt::format("{}", cls),
                   fmt::format("a whole number from 0 to {}", set.names.size() - 1));
    }
  }
  return {};
}

/// Labels of one picture in the index's form: normalised, checked, clipped.
class Reader {
 public:
  Reader(const RecordSet& set, Task task, const Record& record, const ImageInfo& info)
      : set_(set), task_(task), record_(record), info_(info) {
    const bool pixels = set.box_format == BoxFormat::xyxy || set.box_format == BoxFormat::xywh;
    to_px_x_ = pixels ? 1 : info.width_px;
    to_px_y_ = pixels ? 1 : info.height_px;
  }

  ParsedLabels read() {
    size_t first_point = 0;
    for (size_t i = 0; i < record_.cls.size(); ++i) {
      const size_t points = record_.polygon_counts.empty() ? 0 : record_.polygon_counts[i];
      add(i, std::span(record_.polygon_points).subspan(2 * first_point, 2 * points));
      first_point += points;
    }
    return std::move(labels_);
  }

 private:
  void add(size_t i, std::span<const float> polygon) {
    const auto line = static_cast<uint32_t>(i + 1);
    if (task_ == Task::classify) {
      labels_.rows.push_back({record_.cls[i], 0.5F, 0.5F, 1, 1});
      return;
    }
    const auto finite = [](float value) { return std::isfinite(value); };
    const std::span<const float> keypoints =
        task_ == Task::pose ? std::span(record_.keypoints)
                                  .subspan(i * static_cast<size_t>(set_.kpt_count) * 3,
                                           static_cast<size_t>(set_.kpt_count) * 3)
                            : std::span<const float>();
    if (!std::all_of(polygon.begin(), polygon.end(), finite) ||
        !std::all_of(keypoints.begin(), keypoints.end(), finite)) {
      complain("not_finite", record_.path, line, "a coordinate is not a finite number", &labels_);
      return;
    }
    const PixelBox box = polygon.empty() || !record_.boxes.empty() ? box_of(i) : hull(polygon);
    if (!append_pixel_box(record_.cls[i], box, info_, record_.path, line, &labels_)) return;
    if (!polygon.empty()) {
      labels_.polygon_counts.resize(labels_.rows.size() - 1);
      labels_.polygon_counts.push_back(static_cast<uint32_t>(polygon.size() / 2));
      for (size_t k = 0; k < polygon.size(); k += 2) append_point(polygon[k], polygon[k + 1]);
    } else if (!labels_.polygon_counts.empty()) {
      labels_.polygon_counts.push_back(0);
    }
    for (size_t k = 0; k < keypoints.size(); k += 3) {
      labels_.keypoints.push_back(normalised_x(keypoints[k]));
      labels_.keypoints.push_back(normalised_y(keypoints[k + 1]));
      labels_.keypoints.push_back(keypoints[k + 2]);
    }
  }

  PixelBox box_of(size_t i) const {
    const float* b = record_.boxes.data() + 4 * i;
    const double x = b[0] * to_px_x_, y = b[1] * to_px_y_;
    const double u = b[2] * to_px_x_, v = b[3] * to_px_y_;
    switch (set_.box_format) {
      case BoxFormat::xywhn:
        return {x - u / 2, y - v / 2, x + u / 2, y + v / 2};
      case BoxFormat::xywh:
        return {x, y, x + u, y + v};
      default:
        return {x, y, u, v};
    }
  }

  PixelBox hull(std::span<const float> polygon) const {
    PixelBox box{polygon[0], polygon[1], polygon[0], polygon[1]};
    for (size_t k = 2; k < polygon.size(); k += 2) {
      box.x0 = std::min<double>(box.x0, polygon[k]), box.x1 = std::max<double>(box.x1, polygon[k]);
      box.y0 = std::min<double>(box.y0, polygon[k + 1]);
      box.y1 = std::max<double>(box.y1, polygon[k + 1]);
    }
    return {box.x0 * to_px_x_, box.y0 * to_px_y_, box.x1 * to_px_x_, box.y1 * to_px_y_};
  }

  float normalised_x(float x) const { return static_cast<float>(x * to_px_x_ / info_.width_px); }
  float normalised_y(float y) const { return static_cast<float>(y * to_px_y_ / info_.height_px); }
  void append_point(float x, float y) {
    labels_.polygon_points.push_back(normalised_x(x));
    labels_.polygon_points.push_back(normalised_y(y));
  }

  const RecordSet& set_;
  const Task task_;
  const Record& record_;
  const ImageInfo& info_;
  double to_px_x_ = 1, to_px_y_ = 1;
  ParsedLabels labels_;
};

/// What the index points into besides the tables.
struct RecordStorage {
  std::shared_ptr<const void> tables;
  std::shared_ptr<const RecordSet> records;
  std::vector<std::span<const uint8_t>> contents;
};

}  // namespace

Result<DatasetIndex> index_records(std::shared_ptr<const RecordSet> records,
                                   const DatasetOptions& options, const ImageProbe& probe,
                                   const BytesProbe& probe_bytes, DatasetReport* report) {
  const RecordSet& set = *records;
  const auto task = task_named(set.task);
  if (!task) {
    return misuse(
        fmt::format("task = '{}': expected detect, segment, pose, obb or classify", set.task));
  }
  if (set.names.empty()) return misuse("names: empty; expected the name of each class");
  if (*task == Task::pose && set.kpt_count < 1) return misuse("kpt_count: expected at least 1");
  for (size_t i = 0; i < set.records.size(); ++i) {
    if (Status status = check_columns(set, *task, i); !status.ok()) return status;
  }
  const auto share = static_cast<size_t>(
      std::lround(static_cast<double>(set.records.size()) * static_cast<double>(options.fraction)));
  std::vector<ScannedPicture> pictures(std::min(set.records.size(), share));
  const int threads = options.threads > 0 ? options.threads : default_workers(read_machine());
  parallel_for(
      pictures.size(), threads,
      [&](size_t i) {
        const Record& record = set.records[i];
        ScannedPicture& picture = pictures[i];
        picture.path = record.path.empty() ? fmt::format("record {}", i) : record.path;
        const Result<ImageInfo> info =
            record.contents.empty() ? probe(record.path) : probe_bytes(record.contents);
        if (record.contents.empty()) {
          picture.image = file_key(record.path);
        } else {
          picture.image.bytes = record.contents.size();
        }
        picture.readable = info.ok();
        if (!info.ok()) {
          complain("unreadable_image", picture.path, 0, info.status().message(), &picture.labels);
          return;
        }
        picture.width_px = info->width_px;
        picture.height_px = info->height_px;
        picture.labels = Reader(set, *task, record, *info).read();
      },
      options.progress);

  auto storage = std::make_shared<RecordStorage>();
  bool in_memory = false;
  for (size_t i = 0; i < pictures.size(); ++i) {
    if (!pictures[i].readable) continue;
    storage->contents.emplace_back(set.records[i].contents);
    in_memory |= !set.records[i].contents.empty();
  }
  ScanTables tables = build_tables(std::move(pictures), *task);
  DatasetReport own_report;
  DatasetReport& out = report != nullptr ? *report : own_report;
  out = {};
  out.problems = std::move(tables.problems);
  out.unreadable_images = tables.left_out.size();
  if (!options.classes.empty() || options.single_cls) {
    tables = filter_rows(tables, options.classes, options.single_cls, *task, set.kpt_count);
  }
  out.images = tables.images.size();
  out.rows = tables.rows.size();

  DatasetIndex index;
  index.task = *task;
  index.channels = set.channels;
  index.names = options.single_cls ? std::vector<std::string>{"item"} : set.names;
  index.nc = static_cast<int32_t>(index.names.size());
  index.kpt_count = *task == Task::pose ? set.kpt_count : 0;
  index.kpt_dims = index.kpt_count > 0 ? 3 : 0;
  index.flip_idx.assign(set.flip_idx.begin(), set.flip_idx.end());
  tables.show_in(&index);
  if (in_memory) index.contents = storage->contents;
  storage->tables = std::move(index.storage);
  storage->records = std::move(records);
  index.storage = std::move(storage);
  return index;
}

}  // namespace yoload
