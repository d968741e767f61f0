// Filters against obvious twins.
// SPDX-License-Identifier: Apache-2.0
#include "augment/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "augment/kernels.h"
#include "augment/pixel.h"

namespace yoload {
namespace {

Image noise(int width, int height, int channels, uint32_t seed) {
  Image image(nullptr, width, height, channels);
  std::mt19937 random(seed);
  const auto view = image.mutable_view();
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) view.at(c, y, x) = static_cast<uint8_t>(random());
    }
  }
  return image;
}

int mirrored(int i, int n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
  return i;
}

class FilterOnTarget : public testing::TestWithParam<const char*> {
 protected:
  FilterOnTarget() { set_simd_target(GetParam()); }
  ~FilterOnTarget() override { set_simd_target(""); }
};

TEST_P(FilterOnTarget, BlurAndMedianEqualTheObviousLoops) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 5}, {3, 2}, {65, 40}, {131, 17}}) {
    const Image image = noise(width, height, 2, 9);
    const ImageView in = image.view();
    for (const int size : {3, 5, 7}) {
      Image blurred(nullptr, width, height, 2), median(nullptr, width, height, 2);
      RenderScratch scratch;
      box_blur(in, size, blurred.mutable_view(), scratch);
      median_blur(in, size, median.mutable_view(), scratch);
      for (int c = 0; c < 2; ++c) {
        for (int y = 0; y < height; ++y) {
          for (int x = 0; x < width; ++x) {
            int sum = 0;
            std::vector<uint8_t> window;
            for (int dy = -(size / 2); dy <= size / 2; ++dy) {
              for (int dx = -(size / 2); dx <= size / 2; ++dx) {
                sum += in.at(c, mirrored(y + dy, height), mirrored(x + dx, width));
                window.push_back(
                    in.at(c, std::clamp(y + dy, 0, height - 1), std::clamp(x + dx, 0, width - 1)));
              }
            }
            std::sort(window.begin(), window.end());
            ASSERT_EQ(blurred.view().at(c, y, x), (2 * sum + size * size) / (2 * size * size));
            ASSERT_EQ(median.view().at(c, y, x), window[window.size() / 2]);
          }
        }
      }
    }
  }
}

TEST_P(FilterOnTarget, HsvKernelIsExactForEveryValueAndRange) {
  PlanHsv hsv;
  hsv.enabled = true;
  hsv.hue_shift = 31;
  std::vector<uint8_t> r, g, b;
  for (int high = 0; high < 256; ++high) {
    for (int low = 0; low <= high; ++low) {
      for (const int mid : {low, (low + high) / 2, (3 * low + high) / 4, high}) {
        const uint8_t h = static_cast<uint8_t>(high), m = static_cast<uint8_t>(mid),
                      l = static_cast<uint8_t>(low);
        for (const auto& [x, y, z] :
             {std::array{h, m, l}, {h, l, m}, {m, h, l}, {l, h, m}, {m, l, h}, {l, m, h}}) {
          r.push_back(x), g.push_back(y), b.push_back(z);
        }
      }
    }
  }
  auto fast_r = r, fast_g = g, fast_b = b;
  hsv_row(hsv, r.size(), fast_r.data(), fast_g.data(), fast_b.data());
  for (size_t i = 0; i < r.size(); ++i) {
    const auto expected = hsv_pixel(r[i], g[i], b[i], hsv);
    ASSERT_EQ((std::array{fast_r[i], fast_g[i], fast_b[i]}), expected)
        << int{r[i]} << " " << int{g[i]} << " " << int{b[i]};
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, FilterOnTarget,
                         testing::Values("", "avx3", "avx2", "sse4", "scalar"));

TEST(Clahe, StretchesAFlatRampAndKeepsHues) {
  Image image(nullptr, 64, 64, 3);
  const auto view = image.mutable_view();
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      view.at(0, y, x) = static_cast<uint8_t>(100 + (x + y) % 20);
      view.at(1, y, x) = view.at(2, y, x) = static_cast<uint8_t>((100 + (x + y) % 20) / 2);
    }
  }
  clahe(view, 8, 40.0);
  int low = 255, high = 0;
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      low = std::min<int>(low, view.at(0, y, x)), high = std::max<int>(high, view.at(0, y, x));
      EXPECT_NEAR(view.at(1, y, x), view.at(0, y, x) / 2.0, 1.6);
    }
  }
  EXPECT_GT(high - low, 150);
}

TEST(ToGray, KeepsGrayAndWeighsColours) {
  Image image(nullptr, 2, 1, 3);
  const auto view = image.mutable_view();
  view.at(0, 0, 0) = view.at(1, 0, 0) = view.at(2, 0, 0) = 77;
  view.at(0, 0, 1) = 255, view.at(1, 0, 1) = 0, view.at(2, 0, 1) = 0;
  to_gray(view);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(view.at(c, 0, 0), 77);
    EXPECT_EQ(view.at(c, 0, 1), 76);
  }
}

}  // namespace
}  // namespace yoload
