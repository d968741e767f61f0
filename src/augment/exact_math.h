// Elementary functions from +, -, *, / and sqrt alone, so that plans are equal on every machine.
//
// libm's sine differs between C libraries and even between CPU features of one; a plan must not.
// IEEE requires the five operations used here to be exactly rounded, and the build forbids
// contraction. Relative error is below 1e-14 where the result is not tiny against 1 (absolute 1e-15
// elsewhere).
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace yoload::exact {

inline constexpr double kPi = 3.14159265358979323846;

struct SinCos {
  double sin, cos;
};
/// `radians` within +-1e6.
SinCos sin_cos(double radians);
double tan(double radians);
/// Angle of (x, y) in (-pi, pi]; 0 for the origin.
double atan2(double y, double x);
/// `x` within +-700.
double exp(double x);

/// Largest integer not above x, for |x| < 2^62.
long long floor_to_int(double x);

}  // namespace yoload::exact
