// Training samples of a made-up data set at full size, for tests and benchmarks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "augment/plan.h"
#include "augment/plan_testing.h"
#include "core/image.h"

namespace yoload {

/// Pictures of noise, already of training size, in three aspect ratios.
struct TrainingSet {
  TrainingSet(int imgsz, int size) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (int i = 0; i < size; ++i) {
      const int width = i % 4 == 3 ? imgsz * 3 / 4 : imgsz, height = i % 4 == 3   ? imgsz
                                                                     : i % 4 == 2 ? imgsz * 2 / 3
                                                                                  : imgsz * 3 / 4;
      Image image(nullptr, width, height, 3);
      const MutableImageView view = image.mutable_view();
      for (size_t k = 0; k < 3 * view.plane_stride_bytes; ++k) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        view.data[k] = static_cast<uint8_t>(state >> 32);
      }
      views.push_back(image.view());
      images.push_back(std::move(image));
      data.image(width, height, {});
    }
  }
  std::vector<Image> images;
  std::vector<ImageView> views;
  TestDataset data;
};

/// Plans of the positions [first, first + size) of an endless run over the set.
struct TrainingPlans {
  TrainingPlans(const TrainingSet& set, const AugmentOptions& augment, Fidelity fidelity, int imgsz,
                int first, int size) {
    const DatasetIndex index = set.data.index();
    PlanContext context = test_context(augment, index, imgsz);
    context.fidelity = fidelity;
    const auto pictures = static_cast<int>(set.views.size());
    for (int i = first; i < first + size; ++i) {
      const SampleDraws draws =
          draw_sample(context, static_cast<uint32_t>(i / pictures),
                      static_cast<uint64_t>(i % pictures), {0, static_cast<uint32_t>(pictures), 1});
      std::vector<uint32_t> records;
      for (const uint64_t p : positions(draws)) records.push_back(static_cast<uint32_t>(p));
      plans.push_back(lay_out(context, draws, index, records).plan);
      sources.push_back(std::move(records));
    }
  }
  /// The pictures of sample i out of all pictures of the set, wherever they lie.
  std::vector<ImageView> tiles(size_t i, std::span<const ImageView> of_set) const {
    std::vector<ImageView> of_sample;
    for (const uint32_t record : sources[i]) of_sample.push_back(of_set[record]);
    return of_sample;
  }
  std::vector<SamplePlan> plans;
  std::vector<std::vector<uint32_t>> sources;
};

}  // namespace yoload
