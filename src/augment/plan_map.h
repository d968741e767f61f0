// From eight random numbers to the matrix that labels use and the integer map that pixels use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "augment/polygon.h"
#include "core/plan.h"

namespace yoload {

/// Row-major 3x3 acting on (x, y, 1).
struct Matrix3 {
  std::array<double, 9> m = {1, 0, 0, 0, 1, 0, 0, 0, 1};

  bool operator==(const Matrix3&) const = default;
  Matrix3 operator*(const Matrix3& right) const;
  Point apply(const Point& p) const;
  /// Adjugate over determinant; a singular matrix gives one that sends every pixel off the canvas.
  Matrix3 inverse() const;
};

/// The draws of a random perspective, in the order in which they are drawn.
struct PerspectiveDraws {
  double p20 = 0, p21 = 0;  ///< perspective per pixel
  double degrees = 0;       ///< rotation, counter-clockwise
  double scale = 1;
  double shear_x_degrees = 0, shear_y_degrees = 0;
  double shift_x = 0.5, shift_y = 0.5;  ///< where the canvas centre lands, fraction of the output
};

/// Canvas -> output pixels: T * S * R * P * C, each entry rounded to float32 once at the end (the
/// reference rounds after every product; the two differ by less than 1e-3 px).
Matrix3 perspective_matrix(const PerspectiveDraws& draws, int canvas_width_px, int canvas_height_px,
                           int out_width_px, int out_height_px);

/// `inverse` is output -> canvas. Coefficients saturate where the executors' sums could overflow.
InverseMap to_inverse_map(const Matrix3& inverse, bool canvas_is_output_size);

}  // namespace yoload
