// The planner: draws that stay put, geometry that labels follow, and the box rules.
// SPDX-License-Identifier: Apache-2.0
#include "augment/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "augment/objects.h"
#include "augment/polygon.h"
#include "augment/run.h"

namespace yoload {
namespace {

/// Pictures of one size with one box each: class = record number.
struct TinySet {
  TinySet(int count, int width, int height, LabelRow box) : images(static_cast<size_t>(count)) {
    for (size_t i = 0; i < images.size(); ++i) {
      images[i].width_px = width, images[i].height_px = height;
      images[i].first_row = i, images[i].rows = 1;
      box.cls = static_cast<float>(i);
      rows.push_back(box);
    }
    index.images = images;
    index.rows = rows;
    context.augment = &augment;
    context.images = images.size();
  }
  PlannedSample plan(uint64_t position, uint32_t epoch = 0) const {
    const SampleDraws draws =
        draw_sample(context, epoch, position, {0, static_cast<uint32_t>(images.size()), 1});
    std::vector<uint32_t> records;
    for (const uint64_t needed : positions(draws)) records.push_back(static_cast<uint32_t>(needed));
    return lay_out(context, draws, index, records);
  }
  std::vector<ImageRecord> images;
  std::vector<LabelRow> rows;
  DatasetIndex index;
  AugmentOptions augment;
  PlanContext context;
};

TEST(Plan, IsAPureFunctionOfSeedEpochAndPosition) {
  TinySet set(50, 640, 480, {0, .5f, .5f, .5f, .5f});
  set.augment.mixup = 0.5f;
  for (uint64_t position = 0; position < 50; ++position) {
    EXPECT_EQ(set.plan(position).plan.to_string(), set.plan(position).plan.to_string());
    EXPECT_NE(set.plan(position, 0).plan.to_string(), set.plan(position, 1).plan.to_string());
  }
}

TEST(Plan, AnOperationMoreShiftsNoOtherDraw) {
  TinySet set(50, 640, 480, {0, .5f, .5f, .5f, .5f});
  const PlannedSample before = set.plan(7);
  set.augment.mixup = 1;
  set.augment.blur = set.augment.clahe = 1;
  set.augment.flipud = 1;
  const PlannedSample after = set.plan(7);
  EXPECT_EQ(after.plan.layers.size(), 2u);
  EXPECT_EQ(after.plan.layers[0].map.x0, before.plan.layers[0].map.x0);
  EXPECT_EQ(after.plan.hsv.sat_gain_q15, before.plan.hsv.sat_gain_q15);
  EXPECT_EQ(after.plan.fliplr, before.plan.fliplr);
  ASSERT_EQ(after.plan.layers[0].tiles.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(after.plan.layers[0].tiles[i].offset_x, before.plan.layers[0].tiles[i].offset_x);
  }
}

TEST(Plan, DrawsFollowTheirDistributions) {
  TinySet set(8, 640, 480, {0, .5f, .5f, .5f, .5f});
  set.augment.mixup = 1;
  double scale = 0, scale2 = 0, ratio = 0, ratio2 = 0;
  int flips = 0;
  constexpr int kDraws = 20'000;
  for (uint64_t position = 0; position < kDraws; ++position) {
    const SampleDraws draws = draw_sample(set.context, 3, position, {0, 8, 1});
    scale += draws.own.warp.scale, scale2 += draws.own.warp.scale * draws.own.warp.scale;
    ratio += draws.mixup_ratio, ratio2 += draws.mixup_ratio * draws.mixup_ratio;
    flips += draws.fliplr ? 1 : 0;
  }
  EXPECT_NEAR(scale / kDraws, 0.5, 0.01);
  EXPECT_NEAR(scale2 / kDraws, 1.0 / 3, 0.01);
  EXPECT_NEAR(ratio / kDraws, 0.5, 0.002);
  // Beta(32, 32): variance 1 / (4 * 65).
  EXPECT_NEAR(ratio2 / kDraws - std::pow(ratio / kDraws, 2), 1.0 / 260, 0.0002);
  EXPECT_NEAR(flips, kDraws / 2, 250);
}

TEST(Plan, MosaicTilesTouchTheCentreWithTheirInnerCorners) {
  TinySet set(50, 640, 480, {0, .5f, .5f, .5f, .5f});
  for (uint64_t position = 0; position < 50; ++position) {
    const PlanLayer layer = set.plan(position).plan.layers[0];
    ASSERT_EQ(layer.canvas_width_px, 1280);
    const int xc = layer.tiles[3].offset_x, yc = layer.tiles[3].offset_y;
    EXPECT_GE(xc, 320);
    EXPECT_LT(xc, 960);
    EXPECT_EQ(layer.tiles[0].x1, xc);
    EXPECT_EQ(layer.tiles[0].y1, yc);
    EXPECT_EQ(layer.tiles[1].x0, xc);
    EXPECT_EQ(layer.tiles[1].y1, yc);
    EXPECT_EQ(layer.tiles[2].x1, xc);
    EXPECT_EQ(layer.tiles[2].y0, yc);
  }
}

TEST(Plan, ValidationCentresThePictureAndKeepsEveryBox) {
  TinySet set(1, 640, 421, {0, .5f, .5f, .001f, .001f});
  set.context.enabled = false;
  const PlannedSample planned = set.plan(0);
  const PlanTile& tile = planned.plan.layers[0].tiles[0];
  EXPECT_EQ(planned.plan.layers[0].map.kind, MapKind::identity);
  EXPECT_EQ(tile.offset_y, 109);  // 219 rows of padding: 109 above, 110 below
  EXPECT_EQ(tile.offset_x, 0);
  EXPECT_EQ(planned.labels.size(), 1u) << "no size filter on an identity map";
  EXPECT_NEAR(planned.labels.bboxes[1], (421 * 0.5 + 109) / 640, 1e-6);
}

TEST(ResizedSize, RoundsTheShorterSideUp) {
  int width = 0, height = 0;
  resized_size(1920, 1081, 640, ResizeMode::letterbox, &width, &height);
  EXPECT_EQ(width, 640);
  EXPECT_EQ(height, 361);
  resized_size(10, 7, 640, ResizeMode::letterbox, &width, &height);
  EXPECT_EQ(width, 640);
  EXPECT_EQ(height, 448);
  resized_size(20000, 3, 640, ResizeMode::letterbox, &width, &height);
  EXPECT_EQ(width, 640);
  EXPECT_EQ(height, 1);
  resized_size(100, 50, 320, ResizeMode::stretch, &width, &height);
  EXPECT_EQ(width, 320);
  EXPECT_EQ(height, 320);
}

TEST(Boxes, FilterCountsEachReasonOnce) {
  const auto outcome = [](Box box, double gain) {
    Warp warp;
    warp.matrix = {gain, 0, 0, 0, gain, 0, 0, 0, 1};
    warp.gain = gain;
    std::vector<Object> objects(1);
    objects[0].box = box;
    DropCounts dropped;
    warp_objects(warp, 640, 640, Task::detect, {}, &objects, &dropped);
    EXPECT_EQ(objects.size() + dropped.total(), 1u);
    return dropped;
  };
  EXPECT_EQ(outcome({10, 10, 100, 100}, 0.9).total(), 0u);
  EXPECT_EQ(outcome({700, 700, 720, 720}, 1.5).outside, 1u);
  EXPECT_EQ(outcome({10, 10, 13.9, 100}, 0.5).too_small, 1u);
  EXPECT_EQ(outcome({0, 10, 600, 14}, 0.99).aspect, 1u);
  EXPECT_EQ(outcome({600, 600, 1200, 1200}, 1.01).area, 1u) << "under a tenth is left";
}

TEST(Boxes, KeepModeKeepsScratches) {
  Warp warp;
  warp.matrix = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 1};
  warp.gain = 0.5;
  std::vector<Object> objects(1);
  objects[0].box = {0, 10, 1200, 13};
  DropCounts dropped;
  warp_objects(warp, 640, 640, Task::detect, {BoxFilter::keep, 0}, &objects, &dropped);
  EXPECT_EQ(objects.size(), 1u);
}

TEST(Labels, FollowThePixels) {
  // A white rectangle on gray, warped and found again.
  for (const bool rotated : {false, true}) {
    TinySet set(9, 200, 160, {0, .4f, .55f, .3f, .2f});
    set.context.imgsz = 200;
    set.context.out_width_px = set.context.out_height_px = 200;
    set.augment.mosaic = 0;
    set.augment.hsv_h = set.augment.hsv_s = set.augment.hsv_v = 0;
    set.augment.blur = set.augment.median_blur = set.augment.to_gray = set.augment.clahe = 0;
    set.augment.flipud = 0.5f;
    if (rotated) set.augment.perspective = 0.0005f;
    Image image(nullptr, 200, 160, 3);
    const auto view = image.mutable_view();
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < 160; ++y) {
        for (int x = 0; x < 200; ++x)
          view.at(c, y, x) = x >= 50 && x < 110 && y >= 72 && y < 104 ? 255 : 0;
      }
    }
    for (uint64_t position = 0; position < 9; ++position) {
      for (uint32_t epoch = 0; epoch < 20; ++epoch) {
        const PlannedSample planned = set.plan(position, epoch);
        if (planned.labels.size() != 1) continue;
        std::vector<uint8_t> pixels(3 * 200 * 200);
        RenderTarget target;
        target.data = pixels.data();
        target.width_px = target.height_px = 200;
        RenderScratch scratch;
        const std::vector<ImageView> tiles = {image.view()};
        run_simd(planned.plan, tiles, target, scratch);
        int x0 = 200, x1 = 0, y0 = 200, y1 = 0;
        for (int y = 0; y < 200; ++y) {
          for (int x = 0; x < 200; ++x) {
            if (pixels[static_cast<size_t>(y * 200 + x)] < 192) continue;
            x0 = std::min(x0, x), x1 = std::max(x1, x + 1), y0 = std::min(y0, y),
            y1 = std::max(y1, y + 1);
          }
        }
        const auto& box = planned.labels.bboxes;
        EXPECT_NEAR((box[0] - box[2] / 2) * 200, x0, 1.6);
        EXPECT_NEAR((box[0] + box[2] / 2) * 200, x1, 1.6);
        EXPECT_NEAR((box[1] - box[3] / 2) * 200, y0, 1.6);
        EXPECT_NEAR((box[1] + box[3] / 2) * 200, y1, 1.6);
      }
    }
  }
}

TEST(Polygon, ClippingKeepsTheInside) {
  const std::vector<Point> square = {{-10, -10}, {50, -10}, {50, 50}, {-10, 50}};
  EXPECT_NEAR(polygon_area(clip_polygon(square, 40, 40)), 1600, 1e-9);
  EXPECT_TRUE(clip_polygon({{50, 50}, {60, 50}, {60, 60}}, 40, 40).empty());
}

TEST(OrientedBox, KeepsAngleAndSidesForEitherWinding) {
  const double angle = 0.3;
  std::vector<Point> corners;
  for (const auto& [u, v] : {std::pair{-20.0, -5.0}, {20.0, -5.0}, {20.0, 5.0}, {-20.0, 5.0}}) {
    corners.push_back({100 + u * std::cos(angle) - v * std::sin(angle),
                       80 + u * std::sin(angle) + v * std::cos(angle)});
  }
  const OrientedBox box =
      oriented_box(corners, {corners[1].x - corners[0].x, corners[1].y - corners[0].y});
  EXPECT_NEAR(box.x, 100, 1e-9);
  EXPECT_NEAR(box.y, 80, 1e-9);
  EXPECT_NEAR(box.w, 40, 1e-9);
  EXPECT_NEAR(box.h, 10, 1e-9);
  EXPECT_NEAR(box.angle, angle, 1e-12);
  std::swap(corners[1], corners[3]);
  const OrientedBox turned =
      oriented_box(corners, {corners[1].x - corners[0].x, corners[1].y - corners[0].y});
  EXPECT_NEAR(turned.angle, angle, 1e-9);
}

}  // namespace
}  // namespace yoload
