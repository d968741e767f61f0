// Points, boxes and polygons in pixels: the plane geometry that label transforms need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace yoload {

struct Point {
  double x = 0, y = 0;
};

/// Axis-aligned, [x0, x1] x [y0, y1].
struct Box {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  double width() const { return x1 - x0; }
  double height() const { return y1 - y0; }
  bool empty() const { return !(x1 > x0 && y1 > y0); }
  double area() const { return empty() ? 0 : width() * height(); }
  Box intersect(const Box& other) const;
  bool contains(const Point& p) const { return p.x >= x0 && p.x <= x1 && p.y >= y0 && p.y <= y1; }
};

/// Smallest box around the points; empty without points.
Box bounds(std::span<const Point> points);

/// Part of a polygon inside `frame` (Sutherland-Hodgman: a concave polygon that falls apart keeps
/// its pieces joined along the frame's edge, which changes neither the filled area nor the bounds).
std::vector<Point> clip_polygon(std::span<const Point> polygon, const Box& frame);

/// Rectangle turned by `radians`; width >= height and radians in [-pi/4, 3 pi/4).
struct RotatedBox {
  double x = 0, y = 0, width = 0, height = 0, radians = 0;
};

/// The rectangle of least area around the points; corners in `corners` go round it.
RotatedBox min_area_box(std::span<const Point> points);
std::vector<Point> corners(const RotatedBox& box);

/// The part of an oriented box (4 corners) inside `frame`, as an oriented box of the same angle:
/// the clipped shape is measured along the box's own axes. Unchanged where nothing is cut, empty
/// where nothing is left.
std::vector<Point> clip_oriented(std::span<const Point> corners, const Box& frame);

}  // namespace yoload
