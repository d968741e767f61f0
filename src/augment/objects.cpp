// SPDX-License-Identifier: Apache-2.0
#include "augment/objects.h"

#include <algorithm>
#include <cmath>

#include "augment/polygon.h"

namespace yoload {
namespace {

// SEMANTICS section 5, box_candidates.
constexpr double kMinSidePx = 2;
constexpr double kMaxAspect = 100;
constexpr double kMinAreaShare = 0.10;
constexpr double kMinAreaShareWithPolygons = 0.01;

Box bounds(const std::vector<Point>& points) {
  Box box{1e300, 1e300, -1e300, -1e300};
  for (const Point& p : points) {
    box.x0 = std::min(box.x0, p.x), box.x1 = std::max(box.x1, p.x);
    box.y0 = std::min(box.y0, p.y), box.y1 = std::max(box.y1, p.y);
  }
  return points.empty() ? Box{} : box;
}

bool inside(Point p, double width_px, double height_px) {
  return p.x >= 0 && p.y >= 0 && p.x <= width_px && p.y <= height_px;
}

Box hull_through(const Matrix3& matrix, const Box& box) {
  return bounds({transform(matrix, {box.x0, box.y0}), transform(matrix, {box.x1, box.y0}),
                 transform(matrix, {box.x1, box.y1}), transform(matrix, {box.x0, box.y1})});
}

/// Which rule removes the object, if any; null when it stays.
uint64_t* reason_to_drop(const Box& box, double area_before, double min_share, const FilterRules& rules,
                         DropCounts* dropped) {
  const double w = box.width(), h = box.height();
  if (!(w > 0) || !(h > 0)) return &dropped->outside;
  if (rules.filter == BoxFilter::keep) {
    return w < rules.min_box_px || h < rules.min_box_px ? &dropped->too_small : nullptr;
  }
  if (!(w > kMinSidePx) || !(h > kMinSidePx)) return &dropped->too_small;
  if (!(std::max(w / h, h / w) < kMaxAspect)) return &dropped->aspect;
  if (!(w * h > min_share * area_before)) return &dropped->area;
  return nullptr;
}

}  // namespace

Box clipped(const Box& box, double width_px, double height_px) {
  return {std::clamp(box.x0, 0.0, width_px), std::clamp(box.y0, 0.0, height_px),
          std::clamp(box.x1, 0.0, width_px), std::clamp(box.y1, 0.0, height_px)};
}

void append_tile_objects(const DatasetIndex& index, uint32_t record, const PlanTile& tile,
                         const PlanSource& source, int canvas_width_px, int canvas_height_px,
                         std::vector<Object>* objects, DropCounts* dropped) {
  const double w = source.width_px, h = source.height_px;
  const auto place = [&](double x, double y) { return Point{x * w + tile.offset_x, y * h + tile.offset_y}; };
  const ImageRecord& image = index.images[record];
  for (uint64_t row = image.first_row; row < image.first_row + image.rows; ++row) {
    const LabelRow& label = index.rows[row];
    Object object;
    object.cls = label.cls;
    const Point low = place(label.x - label.w / 2.0, label.y - label.h / 2.0);
    const Point high = place(label.x + label.w / 2.0, label.y + label.h / 2.0);
    object.box = clipped({low.x, low.y, high.x, high.y}, canvas_width_px, canvas_height_px);
    if (!(object.box.area() > 0)) {
      ++dropped->outside;
      continue;
    }
    if (index.task == Task::segment || index.task == Task::obb) {
      const auto points = index.polygon_of(row);
      for (size_t i = 0; i + 1 < points.size(); i += 2) object.polygon.push_back(place(points[i], points[i + 1]));
    }
    if (index.task == Task::pose) {
      const auto values = index.keypoints_of(row);
      for (size_t i = 0; i + 2 < values.size(); i += 3) {
        Keypoint keypoint{place(values[i], values[i + 1]), values[i + 2]};
        // Cut off by the tile's visible rectangle: another picture lies there (REPORTS R03).
        if (keypoint.at.x < tile.x0 || keypoint.at.y < tile.y0 || keypoint.at.x > tile.x1 ||
            keypoint.at.y > tile.y1) {
          keypoint.visibility = 0;
        }
        object.keypoints.push_back(keypoint);
      }
    }
    objects->push_back(std::move(object));
  }
}

void warp_objects(const Warp& warp, int out_width_px, int out_height_px, Task task, const FilterRules& rules,
                  std::vector<Object>* objects, DropCounts* dropped) {
  const double width = out_width_px, height = out_height_px;
  const bool identity = warp.matrix == kIdentity3;
  std::vector<Object> kept;
  kept.reserve(objects->size());
  for (Object& object : *objects) {
    const double area_before = object.box.area() * warp.gain * warp.gain;
    const bool polygon = !object.polygon.empty();
    for (Point& p : object.polygon) p = transform(warp.matrix, p);
    if (polygon && task == Task::segment) {
      object.polygon = clip_polygon(object.polygon, width, height);
      object.box = bounds(object.polygon);
    } else {
      object.box = clipped(hull_through(warp.matrix, object.box), width, height);
    }
    for (Keypoint& keypoint : object.keypoints) {
      keypoint.at = transform(warp.matrix, keypoint.at);
      if (!inside(keypoint.at, width, height)) keypoint.visibility = 0;
    }
    if (!identity) {
      const double min_share = polygon ? kMinAreaShareWithPolygons : kMinAreaShare;
      if (uint64_t* reason = reason_to_drop(object.box, area_before, min_share, rules, dropped)) {
        ++*reason;
        continue;
      }
    } else if (!(object.box.area() > 0)) {
      ++dropped->outside;
      continue;
    }
    kept.push_back(std::move(object));
  }
  *objects = std::move(kept);
}

void flip_objects(bool flipud, bool fliplr, int width_px, int height_px, const std::vector<int32_t>& flip_idx,
                  std::vector<Object>* objects) {
  const auto mirror = [&](Point p) {
    return Point{fliplr ? width_px - p.x : p.x, flipud ? height_px - p.y : p.y};
  };
  for (Object& object : *objects) {
    const Point a = mirror({object.box.x0, object.box.y0}), b = mirror({object.box.x1, object.box.y1});
    object.box = {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
    for (Point& p : object.polygon) p = mirror(p);
    for (Keypoint& keypoint : object.keypoints) keypoint.at = mirror(keypoint.at);
    if (fliplr && flip_idx.size() == object.keypoints.size() && !flip_idx.empty()) {
      std::vector<Keypoint> turned(object.keypoints.size());
      for (size_t i = 0; i < turned.size(); ++i) {
        turned[i] = object.keypoints[static_cast<size_t>(flip_idx[i])];
      }
      object.keypoints = std::move(turned);
    }
  }
}

void write_labels(const std::vector<Object>& objects, int width_px, int height_px, Task task, int kpt_count,
                  SampleLabels* labels) {
  const double w = width_px, h = height_px;
  const auto put = [](std::vector<float>* to, std::initializer_list<double> values) {
    for (const double value : values) to->push_back(static_cast<float>(value));
  };
  const bool polygons = task == Task::segment;
  if (polygons) labels->polygon_offsets.push_back(0);
  for (const Object& object : objects) {
    labels->cls.push_back(object.cls);
    if (task == Task::obb && object.polygon.size() >= 3) {
      // Cut by the frame and refitted along its own axes, so the angle stays (SEMANTICS 5).
      const Point edge{object.polygon[1].x - object.polygon[0].x, object.polygon[1].y - object.polygon[0].y};
      const OrientedBox box = oriented_box(clip_polygon(object.polygon, w, h), edge);
      put(&labels->bboxes, {box.x / w, box.y / h, box.w / w, box.h / h, box.angle});
    } else {
      const Box& box = object.box;
      put(&labels->bboxes,
          {(box.x0 + box.x1) / 2 / w, (box.y0 + box.y1) / 2 / h, box.width() / w, box.height() / h});
      if (task == Task::obb) put(&labels->bboxes, {0});
    }
    if (polygons) {
      for (const Point& p : object.polygon) put(&labels->polygons, {p.x, p.y});
      labels->polygon_offsets.push_back(labels->polygons.size() / 2);
    }
    if (task == Task::pose) {
      for (int k = 0; k < kpt_count; ++k) {
        const Keypoint point = static_cast<size_t>(k) < object.keypoints.size()
                                   ? object.keypoints[static_cast<size_t>(k)]
                                   : Keypoint{};
        put(&labels->keypoints, {point.at.x / w, point.at.y / h, point.visibility});
      }
    }
  }
}

}  // namespace yoload
