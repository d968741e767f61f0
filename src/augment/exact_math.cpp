// SPDX-License-Identifier: Apache-2.0
#include "augment/exact_math.h"

#include <cmath>

namespace yoload::exact {
namespace {

// pi/2 as a sum whose first part has 33 significant bits: k * kHalfPiHigh is exact for |k| < 2^20.
constexpr double kHalfPiHigh = 0x1.921fb544p+0;
constexpr double kHalfPiLow = 0x1.0b4611a626331p-34;

// Taylor series, |r| <= pi/4: the first term left out is below 2e-18.
double sin_series(double r) {
  const double r2 = r * r;
  double sum = 0;
  for (int n = 19; n >= 3; n -= 2) sum = (1 + sum) * (-r2 / (n * (n - 1)));
  return r + r * sum;
}

double cos_series(double r) {
  const double r2 = r * r;
  double sum = 0;
  for (int n = 20; n >= 2; n -= 2) sum = (1 + sum) * (-r2 / (n * (n - 1)));
  return 1 + sum;
}

// |x| <= 1. Two half-angle steps bring the argument below 0.2, where 13 terms are enough.
double atan_small(double x) {
  for (int i = 0; i < 2; ++i) x = x / (1 + std::sqrt(1 + x * x));
  const double x2 = x * x;
  double sum = 0;
  for (int n = 25; n >= 1; n -= 2) sum = 1.0 / n - x2 * sum;
  return 4 * x * sum;
}

}  // namespace

long long floor_to_int(double x) {
  const auto truncated = static_cast<long long>(x);
  return static_cast<double>(truncated) > x ? truncated - 1 : truncated;
}

SinCos sin_cos(double radians) {
  const long long quarter = floor_to_int(radians / (kPi / 2) + 0.5);
  const double k = static_cast<double>(quarter);
  const double r = (radians - k * kHalfPiHigh) - k * kHalfPiLow;
  const double s = sin_series(r), c = cos_series(r);
  switch (quarter & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double tan(double radians) {
  const SinCos value = sin_cos(radians);
  return value.sin / value.cos;
}

double atan2(double y, double x) {
  const double ax = x < 0 ? -x : x, ay = y < 0 ? -y : y;
  if (ax == 0 && ay == 0) return 0;
  double angle = ay <= ax ? atan_small(ay / ax) : kPi / 2 - atan_small(ax / ay);
  if (x < 0) angle = kPi - angle;
  return y < 0 ? -angle : angle;
}

double exp(double x) {
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const long long power = floor_to_int(x / 0.69314718055994530942 + 0.5);
  const double k = static_cast<double>(power);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int n = 16; n >= 1; --n) sum = 1 + sum * r / n;
  const double step = power < 0 ? 0.5 : 2.0;
  for (long long i = power < 0 ? -power : power; i > 0; --i) sum *= step;
  return sum;
}

}  // namespace yoload::exact
