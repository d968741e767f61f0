// SPDX-License-Identifier: Apache-2.0
#include "sampler/rect_batches.h"

#include <gtest/gtest.h>

namespace yoload {
namespace {

std::vector<ImageRecord> sizes(std::initializer_list<std::pair<int, int>> width_height) {
  std::vector<ImageRecord> images;
  for (const auto& [width, height] : width_height) {
    ImageRecord record;
    record.width_px = width;
    record.height_px = height;
    images.push_back(record);
  }
  return images;
}

TEST(RectBatches, SortByAspectAndPadToStrides) {
  const auto images = sizes({{480, 640}, {640, 480}, {640, 640}, {640, 320}});
  const RectBatches rect = rect_batches(images, {}, 2, 640, 32, 0.5);
  EXPECT_EQ(rect.order, (std::vector<uint32_t>{3, 1, 2, 0}));
  ASSERT_EQ(rect.shapes.size(), 2u);
  EXPECT_EQ(rect.shapes[0].height_px, 512);  // all wide: 0.75 * 20 + 0.5 strides, rounded up
  EXPECT_EQ(rect.shapes[0].width_px, 672);
  EXPECT_EQ(rect.shapes[1].height_px, 672);  // a square one among tall ones: square
  EXPECT_EQ(rect.shapes[1].width_px, 672);
}

TEST(RectBatches, TallBatchesBecomeNarrow) {
  const auto images = sizes({{320, 640}, {300, 640}});
  const RectBatches rect = rect_batches(images, {}, 2, 640, 32, 0);
  EXPECT_EQ(rect.shapes[0].height_px, 640);
  EXPECT_EQ(rect.shapes[0].width_px, 320);
}

}  // namespace

TEST(RectBatches, TakesAnOrderThatIsSortedByRatioAndRefusesAnother) {
  std::vector<ImageRecord> images(3);
  for (ImageRecord& image : images) image.width_px = image.height_px = 100;
  images[1].width_px = 200;
  const std::vector<int> ties_swapped = {1, 2, 0}, unsorted = {0, 1, 2}, twice = {1, 0, 0};
  EXPECT_TRUE(is_rect_order(images, ties_swapped));
  EXPECT_FALSE(is_rect_order(images, unsorted));
  EXPECT_FALSE(is_rect_order(images, twice));
  const RectBatches rect = rect_batches(images, ties_swapped, 2, 640, 32, 0);
  EXPECT_EQ(rect.order, (std::vector<uint32_t>{1, 2, 0}));
}

}  // namespace yoload
