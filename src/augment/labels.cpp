// SPDX-License-Identifier: Apache-2.0
#include "augment/labels.h"

#include <algorithm>
#include <utility>

namespace yoload {
namespace {

// Thresholds of the reference's box_candidates; all comparisons strict.
constexpr double kMinSidePx = 2;
constexpr double kMaxAspect = 100;
constexpr double kMinAreaShare = 0.10;
constexpr double kMinAreaSharePolygon = 0.01;

std::vector<Point> box_corners(const Box& box) {
  return {{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}};
}

/// Cuts box, polygon and keypoints. False: nothing is left.
bool cut(LabelObject* object, const Box& frame, Task task) {
  for (LabelKeypoint& point : object->keypoints) {
    if (!frame.contains({point.x, point.y})) point.visibility = 0;
  }
  if (object->polygon.empty()) {
    object->box = object->box.intersect(frame);
    return !object->box.empty();
  }
  object->polygon = task == Task::obb ? clip_oriented(object->polygon, frame)
                                      : clip_polygon(object->polygon, frame);
  object->box = bounds(object->polygon).intersect(frame);
  return !object->box.empty();
}

/// Why an object that is partly inside goes all the same; null where it stays.
uint64_t DropCounts::*reason_to_drop(const Box& before, const Box& after, bool polygon,
                                     const WarpRules& rules) {
  const double w = after.width(), h = after.height();
  if (rules.filter == BoxFilter::keep) {
    return w < rules.min_box_px || h < rules.min_box_px ? &DropCounts::too_small : nullptr;
  }
  if (w <= kMinSidePx || h <= kMinSidePx) return &DropCounts::too_small;
  if (std::max(w / h, h / w) >= kMaxAspect) return &DropCounts::aspect;
  const double full = before.area() * rules.scale * rules.scale;
  const double share = polygon ? kMinAreaSharePolygon : kMinAreaShare;
  if (after.area() <= share * full) return &DropCounts::area;
  return nullptr;
}

}  // namespace

void append_tile_objects(const DatasetIndex& index, uint32_t record, const PlanSource& source,
                         const PlanTile& tile, Task task, std::vector<LabelObject>* objects,
                         DropCounts* dropped) {
  const Box visible{static_cast<double>(tile.x0), static_cast<double>(tile.y0),
                    static_cast<double>(tile.x1), static_cast<double>(tile.y1)};
  const double w = source.width_px, h = source.height_px;
  const auto place = [&](double x, double y) {
    return Point{x * w + tile.offset_x, y * h + tile.offset_y};
  };
  const size_t first_row = index.images[record].first_row;
  const auto rows = index.rows_of(record);
  for (size_t i = 0; i < rows.size(); ++i) {
    const LabelRow& row = rows[i];
    LabelObject object;
    object.cls = row.cls;
    const double half_w = row.w / 2.0, half_h = row.h / 2.0;
    const Point low = place(row.x - half_w, row.y - half_h),
                high = place(row.x + half_w, row.y + half_h);
    object.box = {low.x, low.y, high.x, high.y};
    const auto polygon = index.polygon_of(first_row + i);
    for (size_t p = 0; p + 1 < polygon.size(); p += 2) {
      object.polygon.push_back(place(polygon[p], polygon[p + 1]));
    }
    // A row that came as a box in a segment or OBB set still has an outline: its box.
    if (object.polygon.empty() && (task == Task::segment || task == Task::obb)) {
      object.polygon = box_corners(object.box);
    }
    const auto keypoints = index.keypoints_of(first_row + i);
    for (size_t k = 0; k + 2 < keypoints.size(); k += 3) {
      const Point p = place(keypoints[k], keypoints[k + 1]);
      object.keypoints.push_back({p.x, p.y, keypoints[k + 2]});
    }
    if (cut(&object, visible, task)) {
      objects->push_back(std::move(object));
    } else {
      ++dropped->outside;
    }
  }
}

void transform_objects(const Matrix3& matrix, std::vector<LabelObject>* objects) {
  for (LabelObject& object : *objects) {
    for (Point& p : object.polygon) p = matrix.apply(p);
    std::vector<Point> hull = box_corners(object.box);
    for (Point& p : hull) p = matrix.apply(p);
    object.box = bounds(hull);
    for (LabelKeypoint& point : object.keypoints) {
      const Point p = matrix.apply({point.x, point.y});
      point.x = p.x, point.y = p.y;
    }
  }
}

void warp_objects(const Matrix3& matrix, const WarpRules& rules, std::vector<LabelObject>* objects,
                  DropCounts* dropped) {
  const Box frame{0, 0, rules.frame_width_px, rules.frame_height_px};
  const bool identity = matrix == Matrix3{};
  std::vector<Box> boxes_before;
  for (const LabelObject& object : *objects) boxes_before.push_back(object.box);
  if (!identity) transform_objects(matrix, objects);
  std::vector<LabelObject> kept;
  kept.reserve(objects->size());
  for (size_t i = 0; i < objects->size(); ++i) {
    LabelObject& object = (*objects)[i];
    const Box& before = boxes_before[i];
    const bool polygon = !object.polygon.empty();
    if (!cut(&object, frame, rules.task)) {
      ++dropped->outside;
      continue;
    }
    if (!identity) {
      if (const auto reason = reason_to_drop(before, object.box, polygon, rules)) {
        ++(dropped->*reason);
        continue;
      }
    }
    kept.push_back(std::move(object));
  }
  *objects = std::move(kept);
}

std::vector<LabelObject> objects_inside(const std::vector<LabelObject>& objects,
                                        const Box& rectangle, Task task) {
  std::vector<LabelObject> inside;
  for (const LabelObject& object : objects) {
    const double share = object.polygon.empty() ? kMinAreaShare : kMinAreaSharePolygon;
    if (object.box.intersect(rectangle).area() < share * object.box.area()) continue;
    LabelObject part = object;
    if (cut(&part, rectangle, task)) inside.push_back(std::move(part));
  }
  return inside;
}

void flip_objects(bool flipud, bool fliplr, double width_px, double height_px,
                  std::span<const int32_t> flip_idx, std::vector<LabelObject>* objects) {
  const auto flip = [&](Point p) {
    return Point{fliplr ? width_px - p.x : p.x, flipud ? height_px - p.y : p.y};
  };
  for (LabelObject& object : *objects) {
    const Point a = flip({object.box.x0, object.box.y0}), b = flip({object.box.x1, object.box.y1});
    object.box = {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
    for (Point& p : object.polygon) p = flip(p);
    for (LabelKeypoint& point : object.keypoints) {
      const Point p = flip({point.x, point.y});
      point.x = p.x, point.y = p.y;
    }
    const size_t count = object.keypoints.size();
    if (flipud != fliplr && flip_idx.size() == count &&
        count > 0) {  // two exchanges undo each other
      std::vector<LabelKeypoint> exchanged(count);
      for (size_t k = 0; k < count; ++k) {
        const auto from = static_cast<size_t>(flip_idx[k]);
        exchanged[k] = object.keypoints[from < count ? from : k];
      }
      object.keypoints = std::move(exchanged);
    }
  }
}

void scale_objects(double x_gain, double y_gain, std::vector<LabelObject>* objects) {
  for (LabelObject& object : *objects) {
    object.box = {object.box.x0 * x_gain, object.box.y0 * y_gain, object.box.x1 * x_gain,
                  object.box.y1 * y_gain};
    for (Point& p : object.polygon) p = {p.x * x_gain, p.y * y_gain};
    for (LabelKeypoint& point : object.keypoints) point.x *= x_gain, point.y *= y_gain;
  }
}

void pack_labels(const std::vector<LabelObject>& objects, Task task, double width_px,
                 double height_px, SampleLabels* labels) {
  const auto to_float = [](double value) { return static_cast<float>(value); };
  if (task == Task::segment) labels->polygon_offsets.push_back(0);
  for (const LabelObject& object : objects) {
    labels->cls.push_back(object.cls);
    if (task == Task::obb) {
      const RotatedBox box = min_area_box(object.polygon);
      labels->bboxes.insert(
          labels->bboxes.end(),
          {to_float(box.x / width_px), to_float(box.y / height_px), to_float(box.width / width_px),
           to_float(box.height / height_px), to_float(box.radians)});
    } else {
      const Box& box = object.box;
      labels->bboxes.insert(
          labels->bboxes.end(),
          {to_float((box.x0 + box.x1) / 2 / width_px), to_float((box.y0 + box.y1) / 2 / height_px),
           to_float(box.width() / width_px), to_float(box.height() / height_px)});
    }
    for (const LabelKeypoint& point : object.keypoints) {
      labels->keypoints.insert(
          labels->keypoints.end(),
          {to_float(point.x / width_px), to_float(point.y / height_px), point.visibility});
    }
    if (task == Task::segment) {
      for (const Point& p : object.polygon) {
        labels->polygons.insert(labels->polygons.end(), {to_float(p.x), to_float(p.y)});
      }
      labels->polygon_offsets.push_back(labels->polygons.size() / 2);
    }
  }
}

}  // namespace yoload
