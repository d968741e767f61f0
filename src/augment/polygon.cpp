// SPDX-License-Identifier: Apache-2.0
#include "augment/polygon.h"

#include <algorithm>
#include <cmath>

#include "augment/exact_math.h"

namespace yoload {
namespace {

/// Keeps the side of a line where `inside(p) >= 0`; the value is linear in p.
template <class Inside>
std::vector<Point> clip_half_plane(const std::vector<Point>& polygon, const Inside& inside) {
  std::vector<Point> kept;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    const double at_a = inside(a), at_b = inside(b);
    if (at_a >= 0) kept.push_back(a);
    if ((at_a >= 0) != (at_b >= 0)) {
      const double t = at_a / (at_a - at_b);
      kept.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
    }
  }
  return kept;
}

}  // namespace

std::vector<Point> clip_polygon(const std::vector<Point>& polygon, double width_px, double height_px) {
  auto kept = clip_half_plane(polygon, [](Point p) { return p.x; });
  kept = clip_half_plane(kept, [&](Point p) { return width_px - p.x; });
  kept = clip_half_plane(kept, [](Point p) { return p.y; });
  return clip_half_plane(kept, [&](Point p) { return height_px - p.y; });
}

double polygon_area(const std::vector<Point>& polygon) {
  double twice = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return std::fabs(twice) / 2;
}

OrientedBox oriented_box(const std::vector<Point>& polygon, Point direction) {
  const double length = std::sqrt(direction.x * direction.x + direction.y * direction.y);
  // A degenerate first edge has no direction of its own.
  Point u = length > 0 ? Point{direction.x / length, direction.y / length} : Point{1, 0};
  // Turn by quarters until the angle lies in [0, 90) degrees.
  int quarters = 0;
  while (!(u.x > 0 && u.y >= 0) && quarters < 4) {
    u = {-u.y, u.x};
    ++quarters;
  }
  double low_u = 1e300, high_u = -1e300, low_v = 1e300, high_v = -1e300;
  for (const Point& p : polygon) {
    const double along = p.x * u.x + p.y * u.y, across = -p.x * u.y + p.y * u.x;
    low_u = std::min(low_u, along), high_u = std::max(high_u, along);
    low_v = std::min(low_v, across), high_v = std::max(high_v, across);
  }
  const double mid_u = (low_u + high_u) / 2, mid_v = (low_v + high_v) / 2;
  return {mid_u * u.x - mid_v * u.y, mid_u * u.y + mid_v * u.x, high_u - low_u, high_v - low_v,
          exact_atan2(u.y, u.x)};
}

}  // namespace yoload
