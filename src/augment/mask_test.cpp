// SPDX-License-Identifier: Apache-2.0
#include "augment/mask.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace yoload {
namespace {

std::string picture(const std::vector<int32_t>& map, int width_px) {
  std::string text;
  for (size_t i = 0; i < map.size(); ++i) {
    text += static_cast<char>('0' + map[i]);
    if ((i + 1) % static_cast<size_t>(width_px) == 0) text += '\n';
  }
  return text;
}

SampleLabels square_objects(const std::vector<std::array<float, 3>>& squares) {  // x, y, side
  SampleLabels labels;
  labels.polygon_offsets.push_back(0);
  for (size_t i = 0; i < squares.size(); ++i) {
    const auto [x, y, side] = squares[i];
    labels.cls.push_back(static_cast<float>(i));
    labels.bboxes.insert(labels.bboxes.end(), {x, y, side, side});
    labels.polygons.insert(labels.polygons.end(),
                           {x, y, x + side, y, x + side, y + side, x, y + side});
    labels.polygon_offsets.push_back(labels.polygons.size() / 2);
  }
  return labels;
}

TEST(FillPolygon, FillsATriangleAsOpenCvDoes) {
  // cv2.fillPoly (5.0) of (1,1), (10,4), (4,10).
  const std::vector<float> triangle = {1, 1, 10, 4, 4, 10};
  std::vector<int32_t> map(144);
  fill_polygon(triangle, 1, 12, 12, map.data());
  EXPECT_EQ(picture(map, 12),
            "000000000000\n011000000000\n011111000000\n001111111000\n001111111110\n001111111100\n"
            "000111111000\n000111110000\n000111100000\n000011000000\n000010000000\n000000000000\n");
}

TEST(RasteriseMasks, NumbersObjectsLargestFirstAndReordersTheRows) {
  SampleLabels labels = square_objects({{8, 8, 8}, {0, 0, 31}});
  rasterise_masks(32, 32, 4, true, &labels);
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels.cls[0], 1);
  EXPECT_EQ(labels.bboxes[4], 8);
  EXPECT_EQ(labels.mask_width_px, 8);
  EXPECT_EQ(labels.mask[0], 1);
  EXPECT_EQ(labels.mask[2 * 8 + 2], 2);
}

TEST(RasteriseMasks, DropsAndCountsRowsWhoseMaskVanishes) {
  for (const int ratio : {1, 2, 4}) {
    for (const bool overlap : {true, false}) {
      SampleLabels labels =
          square_objects({{3.2f, 3.2f, 0.4f}, {20, 20, 9}, {40, 40, 1.5f}, {20, 20, 9}});
      rasterise_masks(64, 64, ratio, overlap, &labels);
      EXPECT_EQ(labels.size() + labels.dropped.empty_mask, 4u);
      if (overlap) {
        std::set<int32_t> numbers(labels.mask.begin(), labels.mask.end());
        numbers.erase(0);
        EXPECT_EQ(numbers.size(), labels.size()) << ratio;
      } else {
        const size_t cells = static_cast<size_t>(64 / ratio) * static_cast<size_t>(64 / ratio);
        ASSERT_EQ(labels.mask.size(), cells * labels.size());
      }
    }
  }
}

TEST(RasteriseMasks, SurvivesSamplesWithoutObjects) {
  SampleLabels labels;
  labels.polygon_offsets.push_back(0);
  rasterise_masks(64, 64, 4, true, &labels);
  EXPECT_EQ(labels.mask.size(), 256u);
}

// Written by tests/parity/mask_cases.py; run by hand.
TEST(RasteriseMasks, AgreesWithTheReferenceOnRandomPolygons) {
  const char* path = std::getenv("YOLOAD_MASK_CASES");
  if (path == nullptr) GTEST_SKIP() << "YOLOAD_MASK_CASES is not set";
  std::ifstream file(path);
  int ratio = 0;
  size_t cells = 0, different = 0;
  while (file >> ratio) {
    size_t points = 0, rows = 0;
    file >> points;
    SampleLabels labels;
    labels.cls = {0};
    labels.bboxes = {0, 0, 0, 0};
    labels.polygons.resize(2 * points);
    for (float& value : labels.polygons) file >> value;
    labels.polygon_offsets = {0, points};
    rasterise_masks(64, 64, ratio, true, &labels);
    file >> rows;
    for (size_t y = 0; y < rows; ++y) {
      std::string row;
      file >> row;
      for (size_t x = 0; x < row.size(); ++x, ++cells) {
        different += (row[x] - '0') != labels.mask[y * row.size() + x];
      }
    }
  }
  ASSERT_GT(cells, 0u);
  RecordProperty("different_per_million", static_cast<int>(different * 1'000'000 / cells));
  EXPECT_LT(static_cast<double>(different), 0.003 * static_cast<double>(cells))
      << different << " of " << cells;
}

}  // namespace
}  // namespace yoload
