// Filters against obvious twins.
// SPDX-License-Identifier: Apache-2.0
#include "augment/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "augment/hsv_kernel.h"
#include "augment/lab.h"
#include "augment/opencv_colours.h"
#include "augment/pixel.h"
#include "augment/test_noise.h"

namespace yoload {
namespace {

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

TEST_P(FilterOnTarget, LabRowsEqualTheScalarConversion) {
  const Image image = noise(4099, 1, 3, 21);  // no whole number of vectors
  const ImageView in = image.view();
  Image to_lab(nullptr, 4099, 1, 3), to_rgb(nullptr, 4099, 1, 3);
  const MutableImageView lab = to_lab.mutable_view(), rgb = to_rgb.mutable_view();
  rgb_to_lab_row(in.row(0, 0), in.row(1, 0), in.row(2, 0), 4099, lab.row(0, 0), lab.row(1, 0),
                 lab.row(2, 0));
  // Any bytes, not only those that colours have.
  lab_to_rgb_row(in.row(0, 0), in.row(1, 0), in.row(2, 0), 4099, rgb.row(0, 0), rgb.row(1, 0),
                 rgb.row(2, 0));
  for (int x = 0; x < 4099; ++x) {
    const uint8_t a = in.at(0, 0, x), b = in.at(1, 0, x), c = in.at(2, 0, x);
    ASSERT_EQ((std::array{lab.at(0, 0, x), lab.at(1, 0, x), lab.at(2, 0, x)}),
              rgb_to_lab(lab_tables(), a, b, c));
    ASSERT_EQ((std::array{rgb.at(0, 0, x), rgb.at(1, 0, x), rgb.at(2, 0, x)}),
              lab_to_rgb(lab_tables(), a, b, c));
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, FilterOnTarget,
                         testing::Values("", "avx3", "avx2", "sse4", "scalar"));

TEST(OpenCvColours, AreMetWithinTheStatedBounds) {
  for (const OpenCvColour& colour : kOpenCvColours) {
    const auto [r, g, b] = colour.rgb;
    const auto hsv =
        hsv_pixel(r, g, b, {true, colour.hue_shift, colour.sat_gain_q15, colour.val_gain_q15});
    const auto lab = rgb_to_lab(lab_tables(), r, g, b);
    const auto back = lab_to_rgb(lab_tables(), colour.lab[0], colour.lab[1], colour.lab[2]);
    Image pixel(nullptr, 1, 1, 3);
    for (int c = 0; c < 3; ++c) pixel.mutable_view().at(c, 0, 0) = colour.rgb[c];
    to_gray(pixel.mutable_view());
    EXPECT_EQ(pixel.view().at(0, 0, 0), colour.gray);
    for (size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(hsv[c], colour.rgb_of_hsv[c], 1);
      EXPECT_EQ(lab[c], colour.lab[c]) << int{r} << " " << int{g} << " " << int{b};
      EXPECT_NEAR(back[c], colour.rgb_of_lab[c], 1);
    }
  }
}

TEST(Clahe, StretchesAFaintRampAndLeavesHuesAlone) {
  Image image(nullptr, 64, 64, 3);
  const auto view = image.mutable_view();
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      for (int c = 0; c < 3; ++c) view.at(c, y, x) = static_cast<uint8_t>(100 + (x + y) % 20);
    }
  }
  RenderScratch scratch;
  clahe(view, 8, 40.0, scratch);
  int low = 255, high = 0;
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      low = std::min<int>(low, view.at(0, y, x)), high = std::max<int>(high, view.at(0, y, x));
      EXPECT_EQ(view.at(1, y, x), view.at(0, y, x)) << "gray stays gray";
      EXPECT_EQ(view.at(2, y, x), view.at(0, y, x));
    }
  }
  EXPECT_GT(high - low, 150);
}

TEST(Clahe, TakesPicturesSmallerThanItsTilesAndAnyNumberOfChannels) {
  RenderScratch scratch;
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 20}, {9, 7}, {17, 65}}) {
    for (const int channels : {1, 3, 5}) {
      Image image = noise(width, height, channels, 4);
      clahe(image.mutable_view(), 8, 1.0, scratch);
      clahe(image.mutable_view(), 8, 0.0, scratch);
    }
  }
}

}  // namespace
}  // namespace yoload
