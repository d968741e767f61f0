// SPDX-License-Identifier: Apache-2.0
#include "augment/polygon.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "augment/exact_math.h"

namespace yoload {
namespace {

/// Keeps the side of one half plane; `distance` is >= 0 inside.
template <class Distance>
std::vector<Point> clip_half_plane(std::span<const Point> polygon, Distance distance) {
  std::vector<Point> kept;
  kept.reserve(polygon.size() + 4);
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[i + 1 == polygon.size() ? 0 : i + 1];
    const double da = distance(a), db = distance(b);
    if (da >= 0) kept.push_back(a);
    if ((da >= 0) != (db >= 0)) {
      const double t = da / (da - db);
      kept.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
    }
  }
  return kept;
}

double cross(const Point& o, const Point& a, const Point& b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/// Andrew's monotone chain.
std::vector<Point> convex_hull(std::span<const Point> points) {
  std::vector<Point> sorted(points.begin(), points.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  if (sorted.size() < 3) return sorted;
  std::vector<Point> hull(2 * sorted.size());
  size_t size = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const size_t floor = size + (pass == 0 ? 1 : 0);
    for (size_t i = 0; i < sorted.size(); ++i) {
      const Point& p = pass == 0 ? sorted[i] : sorted[sorted.size() - 1 - i];
      if (pass == 1 && i == 0) continue;  // the last point of the lower chain
      while (size > floor && cross(hull[size - 2], hull[size - 1], p) <= 0) --size;
      hull[size++] = p;
    }
  }
  hull.resize(size > 1 ? size - 1 : size);
  return hull;
}

struct Axes {
  double ux, uy;  // unit vector; the other axis is (-uy, ux)
};

struct Extent {
  double u0 = std::numeric_limits<double>::infinity(), u1 = -u0, v0 = u0, v1 = -u0;
};

Extent extent_along(std::span<const Point> points, const Axes& axes) {
  Extent e;
  for (const Point& p : points) {
    const double u = p.x * axes.ux + p.y * axes.uy, v = p.y * axes.ux - p.x * axes.uy;
    e.u0 = std::min(e.u0, u), e.u1 = std::max(e.u1, u);
    e.v0 = std::min(e.v0, v), e.v1 = std::max(e.v1, v);
  }
  return e;
}

Point at(const Axes& axes, double u, double v) {
  return {u * axes.ux - v * axes.uy, u * axes.uy + v * axes.ux};
}

/// Of all rectangles with a side along an edge of the hull (one of them is the smallest), the axes.
Axes min_area_axes(std::span<const Point> points) {
  const std::vector<Point> hull = convex_hull(points);
  Axes best{1, 0};
  double best_area = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point& a = hull[i];
    const Point& b = hull[(i + 1) % hull.size()];
    const double dx = b.x - a.x, dy = b.y - a.y, length = std::sqrt(dx * dx + dy * dy);
    if (!(length > 0)) continue;
    const Axes axes{dx / length, dy / length};
    const Extent e = extent_along(hull, axes);
    const double area = (e.u1 - e.u0) * (e.v1 - e.v0);
    // The margin keeps the choice among equal rectangles independent of the last bit.
    if (area < best_area * (1 - 1e-9) || best_area == std::numeric_limits<double>::infinity()) {
      best_area = area;
      best = axes;
    }
  }
  return best;
}

}  // namespace

Box Box::intersect(const Box& other) const {
  return {std::max(x0, other.x0), std::max(y0, other.y0), std::min(x1, other.x1),
          std::min(y1, other.y1)};
}

Box bounds(std::span<const Point> points) {
  if (points.empty()) return {};
  Box box{points[0].x, points[0].y, points[0].x, points[0].y};
  for (const Point& p : points) {
    box.x0 = std::min(box.x0, p.x), box.y0 = std::min(box.y0, p.y);
    box.x1 = std::max(box.x1, p.x), box.y1 = std::max(box.y1, p.y);
  }
  return box;
}

std::vector<Point> clip_polygon(std::span<const Point> polygon, const Box& frame) {
  const Box box = bounds(polygon);
  if (box.x0 >= frame.x0 && box.y0 >= frame.y0 && box.x1 <= frame.x1 && box.y1 <= frame.y1) {
    return {polygon.begin(), polygon.end()};
  }
  std::vector<Point> kept =
      clip_half_plane(polygon, [&](const Point& p) { return p.x - frame.x0; });
  kept = clip_half_plane(kept, [&](const Point& p) { return frame.x1 - p.x; });
  kept = clip_half_plane(kept, [&](const Point& p) { return p.y - frame.y0; });
  return clip_half_plane(kept, [&](const Point& p) { return frame.y1 - p.y; });
}

RotatedBox min_area_box(std::span<const Point> points) {
  if (points.empty()) return {};
  const Axes axes = min_area_axes(points);
  const Extent e = extent_along(points, axes);
  const Point centre = at(axes, (e.u0 + e.u1) / 2, (e.v0 + e.v1) / 2);
  RotatedBox box{centre.x, centre.y, e.u1 - e.u0, e.v1 - e.v0, exact::atan2(axes.uy, axes.ux)};
  if (box.width < box.height) {
    std::swap(box.width, box.height);
    box.radians += exact::kPi / 2;
  }
  while (box.radians >= 3 * exact::kPi / 4) box.radians -= exact::kPi;
  while (box.radians < -exact::kPi / 4) box.radians += exact::kPi;
  return box;
}

std::vector<Point> corners(const RotatedBox& box) {
  const exact::SinCos angle = exact::sin_cos(box.radians);
  const double ux = angle.cos * box.width / 2, uy = angle.sin * box.width / 2;
  const double vx = -angle.sin * box.height / 2, vy = angle.cos * box.height / 2;
  return {{box.x - ux - vx, box.y - uy - vy},
          {box.x + ux - vx, box.y + uy - vy},
          {box.x + ux + vx, box.y + uy + vy},
          {box.x - ux + vx, box.y - uy + vy}};
}

std::vector<Point> clip_oriented(std::span<const Point> corners, const Box& frame) {
  const Box box = bounds(corners);
  if (box.x0 >= frame.x0 && box.y0 >= frame.y0 && box.x1 <= frame.x1 && box.y1 <= frame.y1) {
    return {corners.begin(), corners.end()};
  }
  const std::vector<Point> kept = clip_polygon(corners, frame);
  if (kept.empty()) return {};
  const Axes axes = min_area_axes(corners);
  const Extent e = extent_along(kept, axes);
  return {at(axes, e.u0, e.v0), at(axes, e.u1, e.v0), at(axes, e.u1, e.v1), at(axes, e.u0, e.v1)};
}

}  // namespace yoload
