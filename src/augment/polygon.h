// Polygons: clipping by a frame, bounds, and the oriented rectangle of an OBB label.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "augment/geometry.h"

namespace yoload {

/// The part of a polygon inside [0, width] x [0, height] (Sutherland and Hodgman, CACM 17/1, 1974). A
/// concave polygon may come out with edges along the frame; bounds and area stay right.
std::vector<Point> clip_polygon(const std::vector<Point>& polygon, double width_px, double height_px);

/// Area, positive for either winding.
double polygon_area(const std::vector<Point>& polygon);

/// Oriented box: centre, sides and the angle of the first side in radians, [0, pi / 2).
struct OrientedBox {
  double x = 0, y = 0, w = 0, h = 0, angle = 0;
};
/// The rectangle around `polygon` whose sides run along `direction` and across it.
OrientedBox oriented_box(const std::vector<Point>& polygon, Point direction);

}  // namespace yoload
