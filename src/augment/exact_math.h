// Sines, tangents and arc tangents from additions, multiplications, divisions and roots only.
//
// libm results differ between versions in the last bit; a plan must not. These are good to a few units
// in the last place, which the tests compare with libm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace yoload {

struct SinCos {
  double sin = 0;
  double cos = 1;
};

/// Sine and cosine of an angle in degrees, |degrees| up to 1e6. Multiples of 90 are exact.
SinCos sincos_degrees(double degrees);
double tan_degrees(double degrees);
/// Angle of (x, y) in radians, (-pi, pi]. (0, 0) gives 0.
double exact_atan2(double y, double x);

}  // namespace yoload
