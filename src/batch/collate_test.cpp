// SPDX-License-Identifier: Apache-2.0
#include "batch/collate.h"

#include <gtest/gtest.h>

namespace yoload {
namespace {

TEST(Collate, ConcatenatesAndNumbersTheSamples) {
  std::vector<SampleLabels> labels(3);
  labels[0].cls = {1, 2};
  labels[0].bboxes = {.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f};
  labels[2].cls = {0};
  labels[2].bboxes = {.9f, .9f, .1f, .1f};
  Batch batch;
  collate_labels(std::move(labels), false, true, &batch);
  EXPECT_EQ(batch.cls, (std::vector<float>{1, 2, 0}));
  EXPECT_EQ(batch.batch_idx, (std::vector<float>{0, 0, 2}));
  EXPECT_EQ(batch.bboxes.size(), 12u);
}

TEST(Collate, GivesSamplesWithoutObjectsAnEmptyOverlapMap) {
  std::vector<SampleLabels> labels(2);
  labels[1].cls = {4};
  labels[1].bboxes = {.5f, .5f, 1, 1};
  labels[1].mask = {0, 1, 1, 0};
  labels[1].mask_width_px = labels[1].mask_height_px = 2;
  Batch batch;
  collate_labels(std::move(labels), true, true, &batch);
  EXPECT_EQ(batch.masks, (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 0}));
}

}  // namespace
}  // namespace yoload
