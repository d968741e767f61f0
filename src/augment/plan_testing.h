// A data set made of literals, for the planner's tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "augment/plan.h"

namespace yoload {

/// Owns the arrays that its index points at.
struct TestDataset {
  std::vector<ImageRecord> images;
  std::vector<LabelRow> rows;
  std::vector<uint64_t> polygon_offsets;
  std::vector<float> polygon_points, keypoints;
  DatasetIndex shape;  // task, kpt_count, flip_idx

  TestDataset& image(int width_px, int height_px, std::vector<LabelRow> objects) {
    ImageRecord record;
    record.first_row = rows.size();
    record.rows = static_cast<uint32_t>(objects.size());
    record.width_px = width_px;
    record.height_px = height_px;
    images.push_back(record);
    rows.insert(rows.end(), objects.begin(), objects.end());
    return *this;
  }
  /// Outline of the next row; call once per row, in order.
  TestDataset& polygon(std::vector<float> points) {
    if (polygon_offsets.empty()) polygon_offsets.push_back(0);
    polygon_points.insert(polygon_points.end(), points.begin(), points.end());
    polygon_offsets.push_back(polygon_points.size() / 2);
    return *this;
  }
  DatasetIndex index() const {
    DatasetIndex view = shape;
    view.images = images;
    view.rows = rows;
    view.polygon_offsets = polygon_offsets;
    view.polygon_points = polygon_points;
    view.keypoints = keypoints;
    return view;
  }
};

inline PlanContext test_context(const AugmentOptions& augment, const DatasetIndex& index,
                                int imgsz) {
  PlanContext context;
  context.augment = &augment;
  context.imgsz = context.out_height_px = context.out_width_px = imgsz;
  context.images = index.images.size();
  context.task = index.task;
  return context;
}

/// Draws and lays out one sample of an unshuffled set (record == position).
inline PlannedSample plan_sample(const PlanContext& context, const DatasetIndex& index,
                                 uint32_t epoch, uint64_t position) {
  const PartnerWindow window{0, static_cast<uint32_t>(index.images.size()), 1};
  const SampleDraws draws = draw_sample(context, epoch, position, window);
  std::vector<uint32_t> records;
  for (const uint64_t p : positions(draws)) records.push_back(static_cast<uint32_t>(p));
  return lay_out(context, draws, index, records);
}

}  // namespace yoload
