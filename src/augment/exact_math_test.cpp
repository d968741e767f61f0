// SPDX-License-Identifier: Apache-2.0
#include "augment/exact_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace yoload {
namespace {

TEST(ExactMath, SinesAgreeWithLibm) {
  for (double degrees = -720; degrees <= 720; degrees += 0.37) {
    const SinCos both = sincos_degrees(degrees);
    EXPECT_NEAR(both.sin, std::sin(degrees * std::numbers::pi / 180), 4e-15) << degrees;
    EXPECT_NEAR(both.cos, std::cos(degrees * std::numbers::pi / 180), 4e-15) << degrees;
  }
  for (double degrees = -80; degrees <= 80; degrees += 0.37) {
    EXPECT_NEAR(tan_degrees(degrees), std::tan(degrees * std::numbers::pi / 180), 1e-13) << degrees;
  }
}

TEST(ExactMath, RightAnglesAreExact) {
  EXPECT_EQ(sincos_degrees(90).cos, 0.0);
  EXPECT_EQ(sincos_degrees(-90).sin, -1.0);
  EXPECT_EQ(sincos_degrees(180).cos, -1.0);
  EXPECT_EQ(sincos_degrees(0).sin, 0.0);
}

TEST(ExactMath, Atan2AgreesWithLibmInAllQuadrants) {
  for (double angle = -3.14; angle < 3.14; angle += 0.0137) {
    const double y = std::sin(angle) * 7, x = std::cos(angle) * 7;
    EXPECT_NEAR(exact_atan2(y, x), std::atan2(y, x), 1e-15 * 4) << angle;
  }
  EXPECT_EQ(exact_atan2(0, 0), 0.0);
  EXPECT_DOUBLE_EQ(exact_atan2(0, -1), std::numbers::pi);
}

}  // namespace
}  // namespace yoload
