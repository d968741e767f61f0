// SPDX-License-Identifier: Apache-2.0
#include "augment/exact_math.h"

#include <cmath>

namespace yoload {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Taylor series: at |x| <= pi/4 the first omitted terms are below 2^-56.
SinCos sincos_reduced(double x) {
  const double y = x * x;
  const double sine =
      x * (1 + y * (-1.0 / 6 + y * (1.0 / 120 + y * (-1.0 / 5040 + y * (1.0 / 362880 +
           y * (-1.0 / 39916800 + y * (1.0 / 6227020800.0 + y * (-1.0 / 1307674368000.0))))))));
  const double cosine =
      1 + y * (-1.0 / 2 + y * (1.0 / 24 + y * (-1.0 / 720 + y * (1.0 / 40320 +
          y * (-1.0 / 3628800 + y * (1.0 / 479001600.0 + y * (-1.0 / 87178291200.0 +
          y * (1.0 / 20922789888000.0))))))));
  return {sine, cosine};
}

}  // namespace

SinCos sincos_degrees(double degrees) {
  // floor is exact, and so is the reduction for angles of any realistic size.
  const double quarter = std::floor(degrees / 90 + 0.5);
  const SinCos part = sincos_reduced((degrees - quarter * 90) * (kPi / 180));
  switch (static_cast<long long>(quarter) & 3) {
    case 0: return part;
    case 1: return {part.cos, -part.sin};
    case 2: return {-part.sin, -part.cos};
    default: return {-part.cos, part.sin};
  }
}

double tan_degrees(double degrees) {
  const SinCos both = sincos_degrees(degrees);
  return both.sin / both.cos;
}

double exact_atan2(double y, double x) {
  if (x == 0 && y == 0) return 0;
  if (x < 0) return y >= 0 ? kPi - exact_atan2(y, -x) : -kPi - exact_atan2(y, -x);
  if (std::fabs(y) > x) return y > 0 ? kPi / 2 - exact_atan2(x, y) : -kPi / 2 + exact_atan2(x, -y);
  // |t| <= 1: two half-angle steps bring it below 0.2, where the series needs ten terms.
  double t = y / x;
  t = t / (1 + std::sqrt(1 + t * t));
  t = t / (1 + std::sqrt(1 + t * t));
  const double u = t * t;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = 1.0 / k - u * sum;
  return 4 * t * sum;
}

}  // namespace yoload
