// Joins the labels of finished samples into the flat arrays of a batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/labels.h"
#include "yoload/loader.h"

namespace yoload {

/// Fills cls, bboxes, batch_idx, keypoints and masks of `batch` (samples in order).
/// `overlap_mask`: one map a sample, empty maps where a sample has no object.
void collate_labels(std::vector<SampleLabels>&& labels, bool with_masks, bool overlap_mask,
                    Batch* batch);

}  // namespace yoload
