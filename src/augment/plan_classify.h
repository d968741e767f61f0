// Classification: random resized crop, flips, colour jitter and erasing; for validation the centre.
//
// Rules of SEMANTICS section 12, with these choices. Pictures are loaded with their shorter side at
// imgsz. Crops are sampled between their corner pixels, so that nothing outside of the picture
// shows. Colour jitter is HSV with the hsv gains. Automatic policies (auto_augment) are not there
// yet. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/dataset_index.h"
#include "core/philox.h"
#include "core/plan.h"
#include "yoload/options.h"

namespace yoload {

struct PlanContext;
struct PlannedSample;
struct SampleDraws;

/// One attempt at a rectangle: share of the area, aspect ratio, and where the rest of each side
/// goes.
struct CropAttempt {
  double area = 1;
  double aspect = 1;
  double x = 0, y = 0;
};

/// Draws of a classification sample that detection does not have.
struct ClassifyDraws {
  std::array<CropAttempt, 10> crops;
  bool erases = false;
  std::array<CropAttempt, 10> erasures;
};

ClassifyDraws draw_classify(const AugmentOptions& augment, Draws draws);

/// The sample of one picture: plan and class.
PlannedSample lay_out_classify(const PlanContext& context, const SampleDraws& draws,
                               const DatasetIndex& index, uint32_t record);

}  // namespace yoload
