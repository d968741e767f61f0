// The flat index of a data set: what the scan of pictures and labels leaves for all later stages.
//
// Flat arrays without pointers, so that the same bytes can live in vectors after a scan or in a
// mapped label cache; a million pictures with seven boxes each stay under 600 MB.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yoload {

enum class Task : uint8_t { detect, segment, pose, obb, classify };

std::string_view name(Task task);
/// The task that `name` calls so.
std::optional<Task> task_named(std::string_view text);

/// Facts about one picture. Sizes are those of the upright picture (EXIF orientation applied).
struct ImageRecord {
  uint64_t path_offset = 0;  ///< into DatasetIndex::strings
  uint64_t first_row = 0;    ///< into DatasetIndex::rows
  uint64_t file_bytes = 0;
  int64_t mtime_ns = 0;  ///< modification time of the picture, Unix epoch
  uint32_t path_bytes = 0;
  uint32_t rows = 0;  ///< objects in this picture; 0 is a background picture
  int32_t width_px = 0;
  int32_t height_px = 0;
};
static_assert(sizeof(ImageRecord) == 48);

/// One object: class and box, normalised by the upright picture's size.
struct LabelRow {
  float cls = 0;       ///< class number; a float, as the training code wants it
  float x = 0, y = 0;  ///< centre
  float w = 0, h = 0;
};
static_assert(sizeof(LabelRow) == 20);

/// Read-only view of a data set. Copies share the storage. Safe to read from any thread.
struct DatasetIndex {
  Task task = Task::detect;
  int32_t nc = 0;         ///< number of classes
  int32_t channels = 3;   ///< channels of the pictures that training sees
  int32_t kpt_count = 0;  ///< pose: keypoints per object
  int32_t kpt_dims = 0;   ///< pose: 2 or 3 values per keypoint in the label files; stored as 3
  std::vector<std::string> names;  ///< nc class names
  std::vector<int32_t> flip_idx;   ///< pose: keypoint permutation of a horizontal flip, or empty
  std::string root;                ///< folder that relative paths start from

  std::span<const ImageRecord> images;
  std::span<const LabelRow> rows;
  /// Polygons, in step with `rows` where the task has them, else empty: row i owns the points
  /// polygon_offsets[i] .. polygon_offsets[i + 1]. OBB: exactly four points a row. A row of a
  /// segment set that came without a polygon has none.
  std::span<const uint64_t> polygon_offsets;
  std::span<const float> polygon_points;  // P,2 normalised x, y
  /// Keypoints, in step with `rows` for pose: kpt_count x (x, y, visibility 0/1/2), normalised.
  std::span<const float> keypoints;  // rows,K,3
  std::span<const char> strings;     ///< paths, relative to root or absolute

  /// Bytes of picture files that are held in memory, in step with `images`; an empty one, or no
  /// entries at all: read the file.
  std::span<const std::span<const uint8_t>> contents;

  std::shared_ptr<const void> storage;  ///< keeps the arrays alive

  std::string_view relative_path(size_t image) const {
    const ImageRecord& record = images[image];
    return {strings.data() + record.path_offset, record.path_bytes};
  }
  /// Path that can be opened.
  std::string path(size_t image) const;
  std::span<const LabelRow> rows_of(size_t image) const {
    return rows.subspan(images[image].first_row, images[image].rows);
  }
  /// Points of row `row` (an index into `rows`), x and y alternating; empty where it has none.
  std::span<const float> polygon_of(size_t row) const {
    if (polygon_offsets.empty()) return {};
    return polygon_points.subspan(2 * polygon_offsets[row],
                                  2 * (polygon_offsets[row + 1] - polygon_offsets[row]));
  }
  std::span<const float> keypoints_of(size_t row) const {
    if (keypoints.empty()) return {};
    const size_t values = static_cast<size_t>(kpt_count) * 3;
    return keypoints.subspan(row * values, values);
  }
  /// Bytes of the arrays, polygons apart, as `bench` reports them.
  uint64_t bytes() const {
    return images.size_bytes() + rows.size_bytes() + strings.size_bytes() + keypoints.size_bytes();
  }
  uint64_t polygon_bytes() const {
    return polygon_offsets.size_bytes() + polygon_points.size_bytes();
  }
};

}  // namespace yoload
