// SPDX-License-Identifier: Apache-2.0
#include "augment/geometry.h"

#include <algorithm>
#include <cmath>

#include "augment/exact_math.h"

namespace yoload {
namespace {

/// U(-bound, bound) from a uniform draw.
double symmetric(double draw, double bound) { return (2 * draw - 1) * bound; }

int64_t q32(double value) {
  // Far outside every canvas; keeps products with output coordinates inside 64 bits.
  const double bounded = std::clamp(value, -0x1p24, 0x1p24);
  return static_cast<int64_t>(std::floor(bounded * 0x1p32 + 0.5));
}

}  // namespace

Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 result{};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      result[3 * row + column] =
          a[3 * row] * b[column] + a[3 * row + 1] * b[3 + column] + a[3 * row + 2] * b[6 + column];
    }
  }
  return result;
}

Matrix3 inverse(const Matrix3& m) {
  const double c00 = m[4] * m[8] - m[5] * m[7];
  const double c01 = m[5] * m[6] - m[3] * m[8];
  const double c02 = m[3] * m[7] - m[4] * m[6];
  const double scale = 1 / (m[0] * c00 + m[1] * c01 + m[2] * c02);
  return {c00 * scale, (m[2] * m[7] - m[1] * m[8]) * scale, (m[1] * m[5] - m[2] * m[4]) * scale,
          c01 * scale, (m[0] * m[8] - m[2] * m[6]) * scale, (m[2] * m[3] - m[0] * m[5]) * scale,
          c02 * scale, (m[1] * m[6] - m[0] * m[7]) * scale, (m[0] * m[4] - m[1] * m[3]) * scale};
}

Point transform(const Matrix3& m, Point p) {
  const double x = m[0] * p.x + m[1] * p.y + m[2];
  const double y = m[3] * p.x + m[4] * p.y + m[5];
  const double w = m[6] * p.x + m[7] * p.y + m[8];
  return w == 1 ? Point{x, y} : Point{x / w, y / w};
}

Warp make_warp(const AugmentOptions& augment, const WarpDraws& draws, int canvas_width_px,
               int canvas_height_px, int out_width_px, int out_height_px) {
  Warp warp;
  warp.gain = 1 + symmetric(draws.scale, augment.scale);
  const Matrix3 center = {1, 0, -0.5 * canvas_width_px, 0, 1, -0.5 * canvas_height_px, 0, 0, 1};
  const Matrix3 perspective = {1, 0, 0, 0, 1, 0, symmetric(draws.p20, augment.perspective),
                               symmetric(draws.p21, augment.perspective), 1};
  const SinCos turn = sincos_degrees(symmetric(draws.angle, augment.degrees));
  const double alpha = warp.gain * turn.cos, beta = warp.gain * turn.sin;
  const Matrix3 rotation = {alpha, beta, 0, -beta, alpha, 0, 0, 0, 1};
  const Matrix3 shear = {1, tan_degrees(symmetric(draws.s01, augment.shear)), 0,
                         tan_degrees(symmetric(draws.s10, augment.shear)), 1, 0, 0, 0, 1};
  const Matrix3 translation = {
      1, 0, (0.5 + symmetric(draws.tx, augment.translate)) * out_width_px,
      0, 1, (0.5 + symmetric(draws.ty, augment.translate)) * out_height_px, 0, 0, 1};
  warp.matrix =
      multiply(translation, multiply(shear, multiply(rotation, multiply(perspective, center))));
  return warp;
}

InverseMap inverse_map(const Matrix3& matrix) {
  InverseMap map;
  if (matrix == kIdentity3) return map;
  const Matrix3 back = inverse(matrix);
  if (matrix[6] != 0 || matrix[7] != 0) {
    map.kind = MapKind::perspective;
    map.h = back;
    return map;
  }
  map.xx = q32(back[0]), map.xy = q32(back[1]), map.x0 = q32(back[2]);
  map.yx = q32(back[3]), map.yy = q32(back[4]), map.y0 = q32(back[5]);
  map.kind = map.xy == 0 && map.yx == 0 ? MapKind::axis_aligned : MapKind::affine;
  return map;
}

}  // namespace yoload
