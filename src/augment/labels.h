// How labels move: from normalised rows onto a canvas, through a warp, over flips, into a sample.
//
// Nothing here sees a pixel. The order is append_tile_objects, warp_objects, flip_objects,
// pack_labels; all coordinates in between are pixels (of the canvas, then of the output).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "augment/plan_map.h"
#include "augment/polygon.h"
#include "core/dataset_index.h"
#include "core/labels.h"
#include "core/plan.h"

namespace yoload {

struct LabelKeypoint {
  double x = 0, y = 0;
  float visibility = 0;
};

/// One object on its way.
struct LabelObject {
  float cls = 0;
  Box box;
  std::vector<Point> polygon;  ///< empty: only the box is known; OBB: 4 corners
  std::vector<LabelKeypoint> keypoints;
};

/// Objects of one tile in canvas pixels, cut to the tile's visible rectangle.
void append_tile_objects(const DatasetIndex& index, uint32_t record, const PlanSource& source,
                         const PlanTile& tile, Task task, std::vector<LabelObject>* objects,
                         DropCounts* dropped);

/// Moves objects without cutting or dropping any.
void transform_objects(const Matrix3& matrix, std::vector<LabelObject>* objects);

struct WarpRules {
  double frame_width_px = 0, frame_height_px = 0;
  double scale = 1;  ///< the warp's gain: the share of area left is measured against it
  BoxFilter filter = BoxFilter::reference;
  double min_box_px = 0;  ///< BoxFilter::keep only
  Task task = Task::detect;
};

/// Moves objects through `matrix`, cuts them to the frame and drops what is too little. An identity
/// matrix drops only what lies outside: what the annotator drew small stays.
void warp_objects(const Matrix3& matrix, const WarpRules& rules, std::vector<LabelObject>* objects,
                  DropCounts* dropped);

/// Cuts objects to a rectangle; those of which less than the reference's share is inside go
/// uncounted (they were never part of the sample).
std::vector<LabelObject> objects_inside(const std::vector<LabelObject>& objects,
                                        const Box& rectangle, Task task);

/// Mirrors, and exchanges keypoints by `flip_idx` on every flip, as the reference does in both
/// directions.
void flip_objects(bool flipud, bool fliplr, double width_px, double height_px,
                  std::span<const int32_t> flip_idx, std::vector<LabelObject>* objects);

/// Scales all coordinates (multi-scale).
void scale_objects(double x_gain, double y_gain, std::vector<LabelObject>* objects);

/// Normalises by the output size. Polygons stay in pixels and come with Task::segment only.
void pack_labels(const std::vector<LabelObject>& objects, Task task, double width_px,
                 double height_px, SampleLabels* labels);

}  // namespace yoload
