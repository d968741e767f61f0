// Forward matrices of SEMANTICS section 5 and the integer inverse maps that executors follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "augment/plan.h"
#include "core/plan.h"

namespace yoload {

/// Row-major 3x3, float64, every operation rounded once and in a fixed order.
using Matrix3 = std::array<double, 9>;

inline constexpr Matrix3 kIdentity3 = {1, 0, 0, 0, 1, 0, 0, 0, 1};

Matrix3 multiply(const Matrix3& a, const Matrix3& b);
/// Inverse by the adjugate; the determinant of a warp is never zero (scale > 0, |shear| < 90).
Matrix3 inverse(const Matrix3& m);

struct Point {
  double x = 0;
  double y = 0;
};
/// The point through the matrix, with the perspective division.
Point transform(const Matrix3& m, Point p);

/// M = T S R P C: canvas pixels -> output pixels of out x out. `gain` is the drawn scale.
struct Warp {
  Matrix3 matrix = kIdentity3;
  double gain = 1;
};
Warp make_warp(const AugmentOptions& augment, const WarpDraws& draws, int canvas_width_px,
               int canvas_height_px, int out_width_px, int out_height_px);

/// The inverse map of `matrix` (canvas -> output), of the simplest kind that is exact.
InverseMap inverse_map(const Matrix3& matrix);

}  // namespace yoload
