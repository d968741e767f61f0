// Labels on their way through the geometry: pixels of a canvas, then pixels of the output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "augment/geometry.h"
#include "core/dataset_index.h"
#include "core/labels.h"
#include "core/plan.h"

namespace yoload {

struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
  double area() const { return width() * height(); }
};

/// The part of `box` inside [0, width] x [0, height].
Box clipped(const Box& box, double width_px, double height_px);

struct Keypoint {
  Point at;
  double visibility = 0;
};

/// One object with what its task carries.
struct Object {
  float cls = 0;
  Box box;
  std::vector<Point> polygon;       ///< segment, OBB
  std::vector<Keypoint> keypoints;  ///< pose
};

struct FilterRules {
  BoxFilter filter = BoxFilter::reference;
  double min_box_px = 0;
};

/// Objects of `record` placed by `tile`, in canvas pixels, cut by the canvas (SEMANTICS 4).
void append_tile_objects(const DatasetIndex& index, uint32_t record, const PlanTile& tile,
                         const PlanSource& source, int canvas_width_px, int canvas_height_px,
                         std::vector<Object>* objects, DropCounts* dropped);

/// Moves objects through `warp` into a frame of out_width x out_height and drops what the size filter
/// removes (SEMANTICS 5, 14). Never filters when `warp` is the identity.
void warp_objects(const Warp& warp, int out_width_px, int out_height_px, Task task,
                  const FilterRules& rules, std::vector<Object>* objects, DropCounts* dropped);

/// Mirrors objects inside a frame; `flip_idx` permutes keypoints of a horizontal flip.
void flip_objects(bool flipud, bool fliplr, int width_px, int height_px, const std::vector<int32_t>& flip_idx,
                  std::vector<Object>* objects);

/// Writes objects out: normalised by the frame, OBB as x y w h angle.
void write_labels(const std::vector<Object>& objects, int width_px, int height_px, Task task, int kpt_count,
                  SampleLabels* labels);

}  // namespace yoload
