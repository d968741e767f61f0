// SPDX-License-Identifier: Apache-2.0
#include "augment/labels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "augment/exact_math.h"
#include "augment/plan_paste.h"
#include "augment/plan_testing.h"

namespace yoload {
namespace {

LabelObject box_object(Box box) {
  return {0, box, {}, {}};
}

WarpRules rules_for(double side_px, double scale = 1) {
  WarpRules rules;
  rules.frame_width_px = rules.frame_height_px = side_px;
  rules.scale = scale;
  return rules;
}

const Matrix3 kShift{{1, 0, 1, 0, 1, 0, 0, 0, 1}};  // one pixel right: not an identity

DropCounts warp_one(LabelObject object, const Matrix3& matrix, const WarpRules& rules,
                    size_t* kept) {
  std::vector<LabelObject> objects = {std::move(object)};
  DropCounts dropped;
  warp_objects(matrix, rules, &objects, &dropped);
  *kept = objects.size();
  return dropped;
}

TEST(WarpObjects, TakesTheHullOfTheFourCornersAndClipsIt) {
  // A quarter turn about (50, 50), then cut at x = 0: (10, 80)-(30, 120) -> y 10..30, x -20..20.
  const Matrix3 turn{{0, -1, 100, 1, 0, 0, 0, 0, 1}};
  std::vector<LabelObject> objects = {box_object({10, 80, 30, 120})};
  DropCounts dropped;
  warp_objects(turn, rules_for(100), &objects, &dropped);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].box.x0, 0);
  EXPECT_EQ(objects[0].box.x1, 20);
  EXPECT_EQ(objects[0].box.y0, 10);
  EXPECT_EQ(objects[0].box.y1, 30);
}

TEST(WarpObjects, CountsEveryDropByItsReason) {
  size_t kept = 9;
  EXPECT_EQ(warp_one(box_object({200, 200, 210, 210}), kShift, rules_for(100), &kept).outside, 1u);
  EXPECT_EQ(warp_one(box_object({10, 10, 12, 40}), kShift, rules_for(100), &kept).too_small, 1u)
      << "2 px";
  EXPECT_EQ(warp_one(box_object({0, 10, 400, 14}), kShift, rules_for(500), &kept).aspect, 1u)
      << "100:1";
  EXPECT_EQ(warp_one(box_object({-50, 10, 4, 40}), kShift, rules_for(100), &kept).area, 1u)
      << "9 %";
  EXPECT_EQ(kept, 0u);
  EXPECT_EQ(warp_one(box_object({10, 10, 12.1, 40}), kShift, rules_for(100), &kept).total(), 0u);
  EXPECT_EQ(kept, 1u);
}

TEST(WarpObjects, MeasuresTheAreaLeftAgainstTheScaledObject) {
  // Half size: an object shrunk to a quarter of its area has lost nothing.
  const Matrix3 half{{0.5, 0, 0, 0, 0.5, 0, 0, 0, 1}};
  size_t kept = 0;
  warp_one(box_object({10, 10, 50, 50}), half, rules_for(100, 0.5), &kept);
  EXPECT_EQ(kept, 1u);
}

TEST(WarpObjects, WithPolygonsKeepsObjectsDownToOnePercent) {
  LabelObject object = box_object({-91, 10, 5, 40});
  size_t kept = 0;
  EXPECT_EQ(warp_one(object, kShift, rules_for(100), &kept).area, 1u);
  object.polygon = {{-91, 10}, {5, 10}, {5, 40}, {-91, 40}};
  warp_one(object, kShift, rules_for(100), &kept);
  EXPECT_EQ(kept, 1u);
}

TEST(WarpObjects, NeverFiltersOnAnIdentityMap) {
  size_t kept = 0;
  const DropCounts dropped =
      warp_one(box_object({10, 10, 10.5, 90}), Matrix3{}, rules_for(100), &kept);
  EXPECT_EQ(kept, 1u);
  EXPECT_EQ(dropped.total(), 0u);
}

TEST(WarpObjects, KeepHoldsOnToSliversDownToTheMinimumSide) {
  WarpRules rules = rules_for(500);
  rules.filter = BoxFilter::keep;
  size_t kept = 0;
  warp_one(box_object({0, 10, 400, 11}), kShift, rules, &kept);
  EXPECT_EQ(kept, 1u);
  rules.min_box_px = 1.5;
  EXPECT_EQ(warp_one(box_object({0, 10, 400, 11}), kShift, rules, &kept).too_small, 1u);
  EXPECT_EQ(warp_one(box_object({600, 10, 700, 40}), kShift, rules, &kept).outside, 1u);
}

TEST(WarpObjects, BoxFollowsTheVisiblePartOfThePolygon) {
  // A triangle whose tip leaves the frame: the box is that of what is left, not of the cut hull.
  LabelObject object = box_object({-40, 20, 40, 60});
  object.polygon = {{-40, 20}, {40, 20}, {40, 60}};
  std::vector<LabelObject> objects = {object};
  DropCounts dropped;
  warp_objects(kShift, rules_for(100), &objects, &dropped);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].box.x0, 0);
  EXPECT_EQ(objects[0].box.x1, 41);
  EXPECT_NEAR(objects[0].box.y1, 60, 1e-9);
  for (const Point& p : objects[0].polygon) EXPECT_GE(p.x, 0);
}

TEST(Keypoints, CutByATileOrTheFrameBecomeInvisible) {
  TestDataset set;
  set.shape.task = Task::pose;
  set.shape.kpt_count = 3;
  set.image(100, 100, {{0, 0.5f, 0.5f, 1, 1}});
  set.keypoints = {0.1f, 0.5f, 2, 0.5f, 0.5f, 2, 0.9f, 0.5f, 1};
  const DatasetIndex index = set.index();
  std::vector<LabelObject> objects;
  DropCounts dropped;
  // Only the right 60 columns of the tile are visible.
  append_tile_objects(index, 0, {0, 0, 100, 100}, {0, 0, 0, 60, 100, -40, 0}, Task::pose, &objects,
                      &dropped);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].keypoints[0].visibility, 0);
  EXPECT_EQ(objects[0].keypoints[1].visibility, 2);
  warp_objects({{1, 0, 45, 0, 1, 0, 0, 0, 1}}, rules_for(100), &objects, &dropped);
  EXPECT_EQ(objects[0].keypoints[1].visibility, 2) << "at 55";
  EXPECT_EQ(objects[0].keypoints[2].visibility, 1) << "at 95";
  EXPECT_EQ(objects[0].keypoints[0].visibility, 0)
      << "inside the frame again, but its pixel is not there";
}

TEST(FlipObjects, MirrorsBoxesAndExchangesKeypoints) {
  LabelObject object = box_object({10, 20, 30, 50});
  object.keypoints = {{12, 22, 2}, {28, 48, 1}};
  std::vector<LabelObject> objects = {object};
  const std::vector<int32_t> flip_idx = {1, 0};
  flip_objects(false, true, 100, 80, flip_idx, &objects);
  EXPECT_EQ(objects[0].box.x0, 70);
  EXPECT_EQ(objects[0].box.x1, 90);
  EXPECT_EQ(objects[0].keypoints[0].x, 72);
  EXPECT_EQ(objects[0].keypoints[0].visibility, 1);
  flip_objects(false, true, 100, 80, flip_idx, &objects);
  EXPECT_EQ(objects[0].box.x0, 10);
  EXPECT_EQ(objects[0].keypoints[1].x, 28);
  EXPECT_EQ(objects[0].keypoints[0].visibility, 2);
}

TEST(Pose, IsNotFlippedWithoutAPermutation) {
  TestDataset set;
  set.shape.task = Task::pose;
  set.shape.kpt_count = 1;
  set.image(64, 64, {{0, 0.5f, 0.5f, 0.5f, 0.5f}});
  set.keypoints = {0.4f, 0.5f, 2};
  const DatasetIndex index = set.index();
  AugmentOptions augment = AugmentOptions::none();
  augment.fliplr = 1;
  const PlannedSample sample = plan_sample(test_context(augment, index, 64), index, 0, 0);
  EXPECT_FALSE(sample.plan.fliplr);
  EXPECT_NEAR(sample.labels.keypoints[0], 0.4, 1e-6);
}

TEST(MinAreaBox, HasTheReferencesAngleRange) {
  // Angles as returned by Ultralytics 8.4's corner conversion for a 40 x 20 box turned by the
  // first.
  const double cases[][2] = {{0, 0},        {30, 0.5236},   {46, 0.80285},  {90, 1.5708},
                             {100, 1.7453}, {135, -0.7854}, {170, -0.17453}};
  for (const auto& c : cases) {
    const std::vector<Point> points = corners({100, 100, 40, 20, c[0] * exact::kPi / 180});
    const RotatedBox box = min_area_box(points);
    EXPECT_NEAR(box.width, 40, 1e-9);
    EXPECT_NEAR(box.height, 20, 1e-9);
    // At 135 degrees both ends of the half-open range are right.
    const double turn = std::remainder(box.radians - c[1], exact::kPi);
    EXPECT_NEAR(turn, 0, 1e-4) << c[0];
    if (c[0] != 135) {
      EXPECT_NEAR(box.radians, c[1], 1e-4);
    }
  }
  const std::vector<Point> parallelogram = {{100, 100}, {140, 100}, {150, 120}, {110, 120}};
  const RotatedBox box = min_area_box(parallelogram);
  EXPECT_NEAR(box.width, 50, 1e-9);
  EXPECT_NEAR(box.height, 20, 1e-9);
}

TEST(ClipOriented, KeepsTheAngleOfACutBox) {
  const std::vector<Point> whole = corners({10, 50, 60, 10, 0.5});
  const std::vector<Point> part = clip_oriented(whole, {0, 0, 100, 100});
  ASSERT_EQ(part.size(), 4u);
  const RotatedBox box = min_area_box(part);
  EXPECT_NEAR(box.radians, 0.5, 1e-9);
  EXPECT_NEAR(box.height, 10, 1e-9);
  EXPECT_LT(box.width, 48);
  EXPECT_TRUE(clip_oriented(whole, {200, 200, 300, 300}).empty());
}

TEST(ClipPolygon, KeepsTheAreaInsideTheFrame) {
  const std::vector<Point> square = {{-10, -10}, {30, -10}, {30, 30}, {-10, 30}};
  const std::vector<Point> part = clip_polygon(square, {0, 0, 20, 20});
  const Box box = bounds(part);
  EXPECT_EQ(box.area(), 400);
  EXPECT_TRUE(clip_polygon(square, {50, 50, 60, 60}).empty());
}

TEST(PasteMirrored, CopiesWhatHidesLittle) {
  LabelObject left = box_object({10, 10, 30, 30});
  left.polygon = {{10, 10}, {30, 10}, {30, 30}, {10, 30}};
  LabelObject middle = box_object({45, 50, 55, 60});  // its mirror image lies on itself
  middle.polygon = {{45, 50}, {55, 50}, {55, 60}, {45, 60}};
  std::vector<LabelObject> objects = {middle, left};
  std::vector<PlanPaste> pastes;
  paste_mirrored(0, 100, &objects, &pastes);
  EXPECT_TRUE(pastes.empty());
  paste_mirrored(1, 100, &objects, &pastes);
  ASSERT_EQ(pastes.size(), 1u);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[2].box.x0, 70);
  EXPECT_EQ(objects[2].box.x1, 90);
  EXPECT_EQ(pastes[0].polygon[0], 90);
}

/// Follows an output pixel back through the plan: where the object is, must the label be.
Point canvas_of(const SamplePlan& plan, double ox, double oy) {
  if (plan.fliplr) ox = plan.out_width_px - 1 - ox;
  if (plan.flipud) oy = plan.out_height_px - 1 - oy;
  const InverseMap& m = plan.layers[0].map;
  if (m.kind == MapKind::perspective) {
    const double u = m.h[0] * ox + m.h[1] * oy + m.h[2], v = m.h[3] * ox + m.h[4] * oy + m.h[5];
    const double w = m.h[6] * ox + m.h[7] * oy + m.h[8];
    return {u / w, v / w};
  }
  const auto q32 = [](int64_t value) { return static_cast<double>(value) * 0x1p-32; };
  return {q32(m.xx) * ox + q32(m.xy) * oy + q32(m.x0), q32(m.yx) * ox + q32(m.yy) * oy + q32(m.y0)};
}

TEST(Labels, FollowThePixels) {
  // One rectangle per picture, class = record. Every output pixel is traced to the rectangle it
  // shows, if any; the bounds of those pixels must be the boxes.
  TestDataset set;
  set.image(160, 100, {{0, 0.4f, 0.5f, 0.4f, 0.5f}}).image(90, 160, {{1, 0.5f, 0.4f, 0.6f, 0.4f}});
  set.image(160, 160, {{2, 0.6f, 0.6f, 0.5f, 0.5f}}).image(160, 120, {{3, 0.5f, 0.5f, 0.3f, 0.8f}});
  const DatasetIndex index = set.index();
  int compared = 0;
  for (const bool turned : {false, true}) {
    for (const float mosaic : {0.0f, 1.0f}) {
      AugmentOptions augment;
      augment.mosaic = mosaic;
      augment.flipud = 0.5f;
      if (turned) augment.perspective = 0.0004f;
      const PlanContext context = test_context(augment, index, 160);
      for (uint32_t epoch = 0; epoch < 20; ++epoch) {
        const SampleDraws draws = draw_sample(context, epoch, epoch % 4, {0, 4, 1});
        std::vector<uint32_t> records;
        for (const uint64_t p : positions(draws)) records.push_back(static_cast<uint32_t>(p));
        const PlannedSample sample = lay_out(context, draws, index, records);
        const PlanLayer& layer = sample.plan.layers[0];
        std::vector<Box> seen(layer.tiles.size(), Box{1e9, 1e9, -1e9, -1e9});
        for (int y = 0; y < 160; ++y) {
          for (int x = 0; x < 160; ++x) {
            const Point c = canvas_of(sample.plan, x, y);
            for (size_t t = 0; t < layer.tiles.size(); ++t) {
              const PlanTile& tile = layer.tiles[t];
              if (c.x < tile.x0 || c.x >= tile.x1 || c.y < tile.y0 || c.y >= tile.y1) continue;
              const PlanSource& source = sample.plan.sources[static_cast<size_t>(tile.source)];
              const LabelRow& row = index.rows[source.record];
              const double u = (c.x - tile.offset_x) / source.width_px,
                           v = (c.y - tile.offset_y) / source.height_px;
              if (std::abs(u - row.x) > row.w / 2 || std::abs(v - row.y) > row.h / 2) continue;
              Box& box = seen[t];
              box = {std::min(box.x0, x + 0.0), std::min(box.y0, y + 0.0),
                     std::max(box.x1, x + 1.0), std::max(box.y1, y + 1.0)};
            }
          }
        }
        for (size_t i = 0; i < sample.labels.size(); ++i) {
          const float* b = &sample.labels.bboxes[4 * i];
          double best = 1e9;
          for (size_t t = 0; t < layer.tiles.size(); ++t) {
            const PlanSource& source =
                sample.plan.sources[static_cast<size_t>(layer.tiles[t].source)];
            if (static_cast<float>(source.record) != sample.labels.cls[i]) continue;
            const Box& box = seen[t];
            best = std::min(best, std::max({std::abs(box.x0 - 160.0 * (b[0] - b[2] / 2)),
                                            std::abs(box.x1 - 160.0 * (b[0] + b[2] / 2)),
                                            std::abs(box.y0 - 160.0 * (b[1] - b[3] / 2)),
                                            std::abs(box.y1 - 160.0 * (b[1] + b[3] / 2))}));
          }
          // One pixel of sampling, half a pixel times (gain - 1) because labels live on pixel edges
          // and the warp on pixel indices (as in the reference), and a little for cut perspective
          // hulls.
          EXPECT_LT(best, 2.2) << "epoch " << epoch << " mosaic " << mosaic;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(Cutmix, PastesWhereNoOwnBoxIsAndCutsThePartnersBoxes) {
  TestDataset set;
  set.image(100, 100, {{0, 0.1f, 0.1f, 0.1f, 0.1f}}).image(100, 100, {{1, 0.5f, 0.5f, 0.9f, 0.9f}});
  const DatasetIndex index = set.index();
  AugmentOptions augment = AugmentOptions::none();
  augment.cutmix = 1;
  const PlanContext context = test_context(augment, index, 100);
  int pasted = 0;
  for (uint32_t epoch = 0; epoch < 200; ++epoch) {
    const PlannedSample sample = plan_sample(context, index, epoch, 0);
    const PlanMix& mix = sample.plan.mix;
    if (mix.kind == MixKind::none) {
      EXPECT_EQ(sample.plan.layers.size(), 1u);
      continue;
    }
    ASSERT_EQ(sample.plan.layers.size(), 2u);
    EXPECT_TRUE(mix.x0 >= 15 || mix.y0 >= 15);
    for (size_t i = 1; i < sample.labels.size(); ++i) {
      const float* b = &sample.labels.bboxes[4 * i];
      EXPECT_GE(100 * (b[0] - b[2] / 2), static_cast<float>(mix.x0) - 1e-3f);
      EXPECT_LE(100 * (b[0] + b[2] / 2), static_cast<float>(mix.x1) + 1e-3f);
      pasted += sample.labels.cls[i] == 1;
    }
  }
  EXPECT_GT(pasted, 20);
}

}  // namespace
}  // namespace yoload
