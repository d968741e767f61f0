// SPDX-License-Identifier: Apache-2.0
#include "augment/resize.h"
#include "augment/test_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace yoload {
namespace {

struct Sizes {
  int from_width, from_height, to_width, to_height;
};

class Resize : public testing::TestWithParam<Sizes> {};

TEST_P(Resize, BothWaysAgreeAndStayWithinOneLevelOfFloat64) {
  const Sizes sizes = GetParam();
  const Image source = noise(sizes.from_width, sizes.from_height, 3, 5);
  Image slow(nullptr, sizes.to_width, sizes.to_height, 3),
      fast(nullptr, sizes.to_width, sizes.to_height, 3);
  resize_bilinear_ref(source.view(), slow.mutable_view());
  for (const char* target : {"", "avx2", "sse4", "scalar"}) {
    set_simd_target(target);
    RenderScratch scratch;
    resize_bilinear_simd(source.view(), fast.mutable_view(), &scratch);
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < sizes.to_height; ++y) {
        for (int x = 0; x < sizes.to_width; ++x)
          ASSERT_EQ(fast.view().at(c, y, x), slow.view().at(c, y, x)) << target;
      }
    }
  }
  set_simd_target("");
  const auto at = [](int i, int from, int to) {
    return std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
  };
  const ImageView view = source.view();
  for (int y = 0; y < sizes.to_height; ++y) {
    for (int x = 0; x < sizes.to_width; ++x) {
      const double sx = at(x, sizes.from_width, sizes.to_width),
                   sy = at(y, sizes.from_height, sizes.to_height);
      const int x0 = static_cast<int>(sx), y0 = static_cast<int>(sy);
      const int x1 = std::min(x0 + 1, view.width_px - 1), y1 = std::min(y0 + 1, view.height_px - 1);
      const double wx = sx - x0, wy = sy - y0;
      const double expected = (view.at(1, y0, x0) * (1 - wx) + view.at(1, y0, x1) * wx) * (1 - wy) +
                              (view.at(1, y1, x0) * (1 - wx) + view.at(1, y1, x1) * wx) * wy;
      ASSERT_NEAR(slow.view().at(1, y, x), expected, 0.55);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Resize,
                         testing::Values(Sizes{640, 480, 320, 240}, Sizes{100, 70, 640, 448},
                                         Sizes{1, 1, 64, 64}, Sizes{1333, 37, 64, 2},
                                         Sizes{2, 999, 33, 640}, Sizes{64, 64, 1, 1},
                                         Sizes{70001, 3, 640, 2}, Sizes{140001, 2, 32, 2},
                                         Sizes{3, 70001, 2, 640}));

}  // namespace
}  // namespace yoload
