// SPDX-License-Identifier: Apache-2.0
#include "augment/plan_map.h"

#include <algorithm>

#include "augment/exact_math.h"

namespace yoload {
namespace {

// Outputs have at most 2^13 pixels a side: 2^47 * 2^13 * 2 + 2^61 stays below 2^63.
constexpr double kMaxStep = 0x1p47;
constexpr double kMaxOffset = 0x1p61;

int64_t q32(double value, double limit) {
  const double scaled = value * 0x1p32;
  if (!(scaled > -limit)) return static_cast<int64_t>(-limit);  // also NaN
  if (scaled > limit) return static_cast<int64_t>(limit);
  return exact::floor_to_int(scaled + 0.5);
}

}  // namespace

Matrix3 Matrix3::operator*(const Matrix3& right) const {
  Matrix3 product;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      product.m[3 * row + column] = m[3 * row] * right.m[column] +
                                    m[3 * row + 1] * right.m[3 + column] +
                                    m[3 * row + 2] * right.m[6 + column];
    }
  }
  return product;
}

Point Matrix3::apply(const Point& p) const {
  const double x = m[0] * p.x + m[1] * p.y + m[2];
  const double y = m[3] * p.x + m[4] * p.y + m[5];
  const double w = m[6] * p.x + m[7] * p.y + m[8];
  if (w == 1) return {x, y};
  // Points at or behind the horizon would come back mirrored; far away on their own side is right.
  const double divisor = std::max(w, 1e-6);
  return {x / divisor, y / divisor};
}

Matrix3 Matrix3::inverse() const {
  const auto& a = m;
  const double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8],
               c2 = a[3] * a[7] - a[4] * a[6];
  const double determinant = a[0] * c0 + a[1] * c1 + a[2] * c2;
  if (determinant == 0 || determinant != determinant) return {{0, 0, -1e6, 0, 0, -1e6, 0, 0, 1}};
  return {{c0 / determinant, (a[2] * a[7] - a[1] * a[8]) / determinant,
           (a[1] * a[5] - a[2] * a[4]) / determinant, c1 / determinant,
           (a[0] * a[8] - a[2] * a[6]) / determinant, (a[2] * a[3] - a[0] * a[5]) / determinant,
           c2 / determinant, (a[1] * a[6] - a[0] * a[7]) / determinant,
           (a[0] * a[4] - a[1] * a[3]) / determinant}};
}

Matrix3 perspective_matrix(const PerspectiveDraws& draws, int canvas_width_px, int canvas_height_px,
                           int out_width_px, int out_height_px) {
  const double radians = exact::kPi / 180;
  const exact::SinCos turn = exact::sin_cos(draws.degrees * radians);
  const double along = draws.scale * turn.cos, across = draws.scale * turn.sin;
  const Matrix3 centre{{1, 0, -canvas_width_px / 2.0, 0, 1, -canvas_height_px / 2.0, 0, 0, 1}};
  const Matrix3 tilt{{1, 0, 0, 0, 1, 0, draws.p20, draws.p21, 1}};
  const Matrix3 rotate{{along, across, 0, -across, along, 0, 0, 0, 1}};
  const Matrix3 shear{{1, exact::tan(draws.shear_x_degrees * radians), 0,
                       exact::tan(draws.shear_y_degrees * radians), 1, 0, 0, 0, 1}};
  const Matrix3 shift{
      {1, 0, draws.shift_x * out_width_px, 0, 1, draws.shift_y * out_height_px, 0, 0, 1}};
  Matrix3 matrix = shift * (shear * (rotate * (tilt * centre)));
  for (double& value : matrix.m) value = static_cast<double>(static_cast<float>(value));
  return matrix;
}

InverseMap to_inverse_map(const Matrix3& inverse, bool canvas_is_output_size) {
  InverseMap map;
  const auto& m = inverse.m;
  if (m[6] != 0 || m[7] != 0) {
    map.kind = MapKind::perspective;
    map.h = m;
    return map;
  }
  map.xx = q32(m[0] / m[8], kMaxStep), map.xy = q32(m[1] / m[8], kMaxStep);
  map.yx = q32(m[3] / m[8], kMaxStep), map.yy = q32(m[4] / m[8], kMaxStep);
  map.x0 = q32(m[2] / m[8], kMaxOffset), map.y0 = q32(m[5] / m[8], kMaxOffset);
  constexpr int64_t kOne = int64_t{1} << 32;
  if (map.xy != 0 || map.yx != 0) {
    map.kind = MapKind::affine;
  } else if (canvas_is_output_size && map.xx == kOne && map.yy == kOne && map.x0 == 0 &&
             map.y0 == 0) {
    map.kind = MapKind::identity;
  } else {
    map.kind = MapKind::axis_aligned;
  }
  return map;
}

}  // namespace yoload
