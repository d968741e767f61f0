// SPDX-License-Identifier: Apache-2.0
#include "augment/resize_antialias.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace yoload {
namespace {

/// The same mean, straight from its definition, in one step for both directions.
double expected(ImageView source, int x, int y, int width, int height) {
  const double sx = static_cast<double>(source.width_px) / width;
  const double sy = static_cast<double>(source.height_px) / height;
  const double rx = std::max(1.0, sx), ry = std::max(1.0, sy);
  double sum = 0, total = 0;
  for (int v = 0; v < source.height_px; ++v) {
    const double wy = std::max(0.0, 1 - std::abs(v + 0.5 - (y + 0.5) * sy) / ry);
    for (int u = 0; u < source.width_px && wy > 0; ++u) {
      const double w = wy * std::max(0.0, 1 - std::abs(u + 0.5 - (x + 0.5) * sx) / rx);
      sum += w * source.row(0, v)[u];
      total += w;
    }
  }
  return sum / total;
}

TEST(ResizeAntialiased, IsTheTriangleWeightedMeanWithinOneLevel) {
  for (const auto& [w0, h0, w, h] : {std::array{37, 53, 11, 20},
                                     {40, 30, 40, 30},
                                     {16, 9, 33, 40},
                                     {64, 64, 64, 7},
                                     {5, 1, 3, 1}}) {
    Image source(nullptr, w0, h0, 1);
    uint32_t state = 1;
    for (int y = 0; y < h0; ++y) {
      for (int x = 0; x < w0; ++x) {
        state = state * 1664525u + 1013904223u;
        source.mutable_view().row(0, y)[x] = static_cast<uint8_t>(state >> 24);
      }
    }
    Image target(nullptr, w, h, 1);
    resize_antialiased(source.view(), target.mutable_view());
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        EXPECT_NEAR(target.view().row(0, y)[x], expected(source.view(), x, y, w, h), 1.01)
            << w0 << "x" << h0 << " to " << w << "x" << h << " at " << x << "," << y;
      }
    }
  }
}

TEST(ResizeAntialiased, KeepsAFlatPictureFlat) {
  Image source(nullptr, 301, 77, 3);
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 77; ++y) std::fill_n(source.mutable_view().row(c, y), 301, 200 + c);
  }
  Image target(nullptr, 64, 13, 3);
  resize_antialiased(source.view(), target.mutable_view());
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 13; ++y) {
      for (int x = 0; x < 64; ++x) ASSERT_EQ(target.view().row(c, y)[x], 200 + c);
    }
  }
}

}  // namespace
}  // namespace yoload
