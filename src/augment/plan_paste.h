// Copy-paste: copies of objects where they hide little.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "augment/labels.h"
#include "core/plan.h"

namespace yoload {

/// Mirrors objects at the canvas' middle, keeps copies that cover less than 0.30 of every object
/// that is there, and of those the first round(probability * n), least covering first. Appends them
/// to `objects` and their outlines to `pastes`.
void paste_mirrored(double probability, int canvas_width_px, std::vector<LabelObject>* objects,
                    std::vector<PlanPaste>* pastes);

/// The same with the objects of another picture in place of mirrored ones (mode mixup).
void paste_partner(double probability, std::vector<LabelObject> partner,
                   std::vector<LabelObject>* objects, std::vector<PlanPaste>* pastes);

}  // namespace yoload
