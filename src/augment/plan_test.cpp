// SPDX-License-Identifier: Apache-2.0
#include "augment/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "augment/exact_math.h"
#include "augment/plan_testing.h"

namespace yoload {
namespace {

TEST(ExactMath, AgreesWithLibmToFourteenDigits) {
  for (double x = -20; x < 20; x += 0.0137) {
    const exact::SinCos value = exact::sin_cos(x);
    EXPECT_NEAR(value.sin, std::sin(x), 1e-15 + 1e-14 * std::abs(std::sin(x))) << x;
    EXPECT_NEAR(value.cos, std::cos(x), 1e-15 + 1e-14 * std::abs(std::cos(x))) << x;
    EXPECT_NEAR(exact::exp(x), std::exp(x), 1e-14 * std::exp(x)) << x;
    EXPECT_NEAR(exact::atan2(x, 1.7), std::atan2(x, 1.7), 1e-14) << x;
    EXPECT_NEAR(exact::atan2(1.3, x), std::atan2(1.3, x), 1e-14) << x;
    EXPECT_NEAR(exact::atan2(-x, -2.0), std::atan2(-x, -2.0), 1e-14) << x;
  }
  for (double x = -1.2; x < 1.2; x += 0.0031)
    EXPECT_NEAR(exact::tan(x), std::tan(x), 1e-14 * 3) << x;
  EXPECT_EQ(exact::sin_cos(0).sin, 0);
  EXPECT_EQ(exact::sin_cos(0).cos, 1);
  EXPECT_EQ(exact::tan(0), 0);
}

TEST(ResizedSize, PutsTheLongestSideToImgszAndRoundsTheOtherUp) {
  int w = 0, h = 0;
  resized_size(640, 427, 640, ResizeMode::letterbox, &w, &h);
  EXPECT_EQ(std::pair(w, h), std::pair(640, 427));
  resized_size(500, 333, 640, ResizeMode::letterbox, &w, &h);
  EXPECT_EQ(std::pair(w, h), std::pair(640, 427));  // 426.24
  resized_size(4000, 10, 640, ResizeMode::letterbox, &w, &h);
  EXPECT_EQ(std::pair(w, h), std::pair(640, 2));  // 1.6
  resized_size(4000, 10, 640, ResizeMode::stretch, &w, &h);
  EXPECT_EQ(std::pair(w, h), std::pair(640, 640));
}

TestDataset four_pictures() {
  TestDataset set;
  set.image(640, 427, {{0, 0.5f, 0.5f, 0.5f, 0.5f}}).image(480, 640, {{1, 0.3f, 0.3f, 0.2f, 0.2f}});
  set.image(640, 640, {{2, 0.5f, 0.5f, 1.0f, 1.0f}}).image(320, 240, {});
  return set;
}

TEST(Plan, IsEqualWhenMadeAgainAndDiffersElsewhere) {
  const TestDataset set = four_pictures();
  const DatasetIndex index = set.index();
  AugmentOptions augment;
  augment.mixup = 0.5f;
  const PlanContext context = test_context(augment, index, 640);
  for (uint64_t position = 0; position < 4; ++position) {
    const std::string text = plan_sample(context, index, 1, position).plan.to_string();
    EXPECT_EQ(text, plan_sample(context, index, 1, position).plan.to_string());
    EXPECT_NE(text, plan_sample(context, index, 2, position).plan.to_string());
  }
}

TEST(Plan, ASwitchedOnOperationShiftsNoOtherDraw) {
  const TestDataset set = four_pictures();
  const DatasetIndex index = set.index();
  AugmentOptions plain, more;
  more.mixup = 1;
  more.blur = more.clahe = more.bgr = more.flipud = 1;
  const PlanContext a = test_context(plain, index, 640), b = test_context(more, index, 640);
  for (uint64_t position = 0; position < 4; ++position) {
    const PlannedSample first = plan_sample(a, index, 0, position),
                        second = plan_sample(b, index, 0, position);
    const InverseMap &m = first.plan.layers[0].map, &n = second.plan.layers[0].map;
    EXPECT_EQ(m.xx, n.xx);
    EXPECT_EQ(m.x0, n.x0);
    EXPECT_EQ(m.y0, n.y0);
    EXPECT_EQ(first.plan.hsv.hue_shift, second.plan.hsv.hue_shift);
    EXPECT_EQ(first.plan.fliplr, second.plan.fliplr);
    ASSERT_EQ(second.plan.layers.size(), 2u);
    EXPECT_TRUE(second.plan.bgr && second.plan.flipud);
    EXPECT_EQ(second.plan.filters.front().kind, FilterKind::blur);
  }
}

TEST(Draws, FollowTheirDistributions) {
  const TestDataset set = four_pictures();
  AugmentOptions augment;
  augment.mixup = 0.25f;
  augment.degrees = 10;
  const PlanContext context = test_context(augment, set.index(), 640);
  constexpr int kSamples = 20000;
  double scale = 0, scale_squares = 0, shift = 0, ratio = 0, ratio_squares = 0, lowest = 1,
         highest = 0;
  int flips = 0, mixups = 0, blurs = 0;
  for (int i = 0; i < kSamples; ++i) {
    const SampleDraws draws = draw_sample(context, 0, static_cast<uint64_t>(i), {0, 4, 1});
    const double s = draws.own.warp.scale;
    scale += s, scale_squares += s * s;
    lowest = std::min(lowest, s), highest = std::max(highest, s);
    shift += draws.own.warp.shift_x;
    flips += draws.fliplr;
    for (const PlanFilter& filter : draws.filters) blurs += filter.kind == FilterKind::blur;
    if (draws.mix == MixKind::mixup) {
      ++mixups;
      ratio += draws.mixup_ratio, ratio_squares += draws.mixup_ratio * draws.mixup_ratio;
    }
    ASSERT_EQ(draws.own.positions.size(), 4u);
    ASSERT_TRUE(draws.own.centre_x >= 0.5 && draws.own.centre_x < 1.5);
    ASSERT_LE(std::abs(draws.own.warp.degrees), 10);
  }
  // Five standard deviations of the mean each.
  EXPECT_NEAR(scale / kSamples, 1, 5 * 0.289 / std::sqrt(kSamples));
  EXPECT_NEAR(scale_squares / kSamples - 1, 1.0 / 12, 0.006);
  EXPECT_LT(lowest, 0.501);
  EXPECT_GT(highest, 1.499);
  EXPECT_NEAR(shift / kSamples, 0.5, 5 * 0.058 / std::sqrt(kSamples));
  EXPECT_NEAR(flips, kSamples / 2, 5 * 71);
  EXPECT_NEAR(mixups, kSamples / 4, 5 * 62);
  EXPECT_NEAR(blurs, kSamples / 100, 5 * 14);
  // Beta(32, 32): mean 1/2, variance 1 / (4 * 65).
  const double mean = ratio / mixups;
  EXPECT_NEAR(mean, 0.5, 5 * 0.062 / std::sqrt(mixups));
  EXPECT_NEAR(ratio_squares / mixups - mean * mean, 1.0 / 260, 0.0004);
}

TEST(Plan, MosaicTilesTouchTheCentreAndFillTheirCorners) {
  const TestDataset set = four_pictures();
  const DatasetIndex index = set.index();
  const AugmentOptions augment;
  const PlanContext context = test_context(augment, index, 640);
  for (uint64_t position = 0; position < 4; ++position) {
    const SampleDraws draws = draw_sample(context, 3, position, {0, 4, 1});
    const SamplePlan plan = plan_sample(context, index, 3, position).plan;
    const int xc = static_cast<int>(draws.own.centre_x * 640),
              yc = static_cast<int>(draws.own.centre_y * 640);
    const PlanLayer& layer = plan.layers[0];
    ASSERT_EQ(layer.tiles.size(), 4u);
    EXPECT_EQ(layer.canvas_width_px, 1280);
    EXPECT_EQ(layer.map.kind, MapKind::axis_aligned);
    EXPECT_EQ(plan.sources[0].position, position);
    EXPECT_EQ(layer.tiles[0].x1, xc);
    EXPECT_EQ(layer.tiles[0].y1, yc);
    EXPECT_EQ(layer.tiles[1].x0, xc);
    EXPECT_EQ(layer.tiles[1].y1, yc);
    EXPECT_EQ(layer.tiles[2].x1, xc);
    EXPECT_EQ(layer.tiles[2].y0, yc);
    EXPECT_EQ(layer.tiles[3].x0, xc);
    EXPECT_EQ(layer.tiles[3].y0, yc);
  }
}

TEST(Plan, Mosaic3x3MatchesTheReferencesLayout) {
  // Sizes (h, w) and visible rectangles (x0, x1, y0, y1) as seen in a run of Ultralytics 8.4, imgsz
  // 100.
  const int sizes[9][2] = {{60, 100}, {100, 60}, {100, 100}, {50, 100}, {100, 50},
                           {80, 100}, {100, 80}, {70, 100},  {100, 70}};
  const int seen[9][4] = {{50, 150, 50, 110},  {50, 110, 0, 50},     {110, 200, 0, 50},
                          {150, 200, 50, 100}, {150, 200, 100, 200}, {50, 150, 110, 190},
                          {0, 50, 110, 200},   {0, 50, 40, 110},     {0, 50, 0, 40}};
  TestDataset set;
  for (const auto& size : sizes) set.image(size[1], size[0], {});
  AugmentOptions augment;
  augment.mosaic_tiles = 9;
  const DatasetIndex index = set.index();
  const PlanContext context = test_context(augment, index, 100);
  SampleDraws draws = draw_sample(context, 0, 0, {0, 9, 1});
  draws.own.positions = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<uint32_t> records = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const SamplePlan plan = lay_out(context, draws, index, records).plan;
  ASSERT_EQ(plan.layers[0].tiles.size(), 9u);
  for (size_t i = 0; i < 9; ++i) {
    const PlanTile& tile = plan.layers[0].tiles[i];
    EXPECT_EQ(tile.x0, seen[i][0]) << i;
    EXPECT_EQ(tile.x1, seen[i][1]) << i;
    EXPECT_EQ(tile.y0, seen[i][2]) << i;
    EXPECT_EQ(tile.y1, seen[i][3]) << i;
  }
}

TEST(Plan, ValidationLetterboxesWithoutChangingAnything) {
  TestDataset set;
  set.image(640, 427, {{0, 0.5f, 0.5f, 0.5f, 0.5f}, {0, 0.5f, 0.5f, 1.0f / 640, 1.0f / 427}});
  const DatasetIndex index = set.index();
  const AugmentOptions augment;
  PlanContext context = test_context(augment, index, 640);
  context.enabled = false;
  context.out_height_px = 448;
  context.out_width_px = 672;
  const PlannedSample sample = plan_sample(context, index, 0, 0);
  const PlanLayer& layer = sample.plan.layers[0];
  EXPECT_EQ(layer.map.kind, MapKind::identity);
  ASSERT_EQ(layer.tiles.size(), 1u);
  EXPECT_EQ(layer.tiles[0].offset_x, 16);
  EXPECT_EQ(layer.tiles[0].offset_y, 10);  // round(10.5 - 0.1)
  ASSERT_EQ(sample.labels.size(), 2u) << "a 1 px box on an identity map stays";
  EXPECT_NEAR(sample.labels.bboxes[0], 0.5, 1e-6);
  EXPECT_NEAR(sample.labels.bboxes[1], (10 + 213.5) / 448, 1e-6);
  EXPECT_NEAR(sample.labels.bboxes[2], 320.0 / 672, 1e-6);
  EXPECT_FALSE(sample.plan.hsv.enabled || sample.plan.fliplr);
}

TEST(Plan, TrainingWithEverythingOffIsAnIdentityMap) {
  TestDataset set;
  set.image(320, 200, {{0, 0.5f, 0.5f, 0.004f, 0.004f}});
  const DatasetIndex index = set.index();
  const AugmentOptions augment = AugmentOptions::none();
  const PlannedSample sample = plan_sample(test_context(augment, index, 640), index, 0, 0);
  EXPECT_EQ(sample.plan.layers[0].map.kind, MapKind::identity);
  EXPECT_EQ(sample.plan.sources[0].width_px, 640);
  EXPECT_EQ(sample.labels.size(), 1u);
  EXPECT_EQ(sample.labels.dropped.total(), 0u);
}

TEST(Plan, MultiScaleFoldsTheResizeIntoTheMapAndKeepsNormalisedLabels) {
  const TestDataset set = four_pictures();
  const DatasetIndex index = set.index();
  AugmentOptions augment;
  augment.multi_scale = 0.5f;
  PlanContext context = test_context(augment, index, 640);
  const PlannedSample base = plan_sample(context, index, 0, 1);
  context.out_height_px = context.out_width_px = 320;
  const PlannedSample half = plan_sample(context, index, 0, 1);
  EXPECT_EQ(half.plan.out_width_px, 320);
  EXPECT_NEAR(static_cast<double>(half.plan.layers[0].map.xx),
              2.0 * static_cast<double>(base.plan.layers[0].map.xx), 4);
  ASSERT_EQ(half.labels.size(), base.labels.size());
  for (size_t i = 0; i < half.labels.bboxes.size(); ++i) {
    EXPECT_NEAR(half.labels.bboxes[i], base.labels.bboxes[i], 1e-6);
  }
  // Output pixel 0 of the half-size picture lies between pixels 0 and 1 of the full one.
  const InverseMap &m = base.plan.layers[0].map, &n = half.plan.layers[0].map;
  EXPECT_NEAR(static_cast<double>(n.x0),
              static_cast<double>(m.x0) + 0.5 * static_cast<double>(m.xx), 4);
}

TEST(Plan, CloseMosaicLeavesOnePictureAndNoMixing) {
  const TestDataset set = four_pictures();
  const DatasetIndex index = set.index();
  AugmentOptions augment;
  augment.mixup = augment.cutmix = 1;
  PlanContext context = test_context(augment, index, 640);
  context.mosaic_allowed = false;
  const SamplePlan plan = plan_sample(context, index, 0, 0).plan;
  EXPECT_EQ(plan.sources.size(), 1u);
  EXPECT_EQ(plan.layers.size(), 1u);
}

TEST(Plan, OddSizesAndExtremeOptionsStayFinite) {
  TestDataset set;
  set.image(10, 10, {{0, 0.5f, 0.5f, 0.1f, 0.1f}})
      .image(20000, 10, {{0, 0.5f, 0.5f, 1, 1}})
      .image(10, 9000, {});
  const DatasetIndex index = set.index();
  AugmentOptions augment;
  augment.scale = 1;
  augment.degrees = 180;
  augment.shear = 89;
  augment.perspective = 0.01f;
  augment.mixup = 0.5f;
  augment.cutmix = 0.5f;
  for (const int imgsz : {32, 640, 2048}) {
    for (uint64_t i = 0; i < 60; ++i) {
      const PlannedSample sample =
          plan_sample(test_context(augment, index, imgsz), index, static_cast<uint32_t>(i), i % 3);
      for (const float value : sample.labels.bboxes) {
        ASSERT_TRUE(std::isfinite(value));
        ASSERT_GE(value, -1e-5f);
        ASSERT_LE(value, 1 + 1e-5f);
      }
    }
  }
}

}  // namespace
}  // namespace yoload
