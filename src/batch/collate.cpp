// SPDX-License-Identifier: Apache-2.0
#include "batch/collate.h"

#include <algorithm>

namespace yoload {
namespace {

template <class T>
void append(const std::vector<T>& from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

void collate_labels(std::vector<SampleLabels>&& labels, bool with_masks, bool overlap_mask,
                    Batch* batch) {
  size_t objects = 0;
  for (const SampleLabels& sample : labels) objects += sample.size();
  batch->cls.reserve(objects);
  batch->bboxes.reserve(objects * 4);
  batch->batch_idx.reserve(objects);
  for (size_t i = 0; i < labels.size(); ++i) {
    const SampleLabels& sample = labels[i];
    append(sample.cls, &batch->cls);
    append(sample.bboxes, &batch->bboxes);
    append(sample.keypoints, &batch->keypoints);
    batch->batch_idx.insert(batch->batch_idx.end(), sample.size(), static_cast<float>(i));
    if (sample.mask_width_px > 0) {
      batch->mask_width_px = sample.mask_width_px;
      batch->mask_height_px = sample.mask_height_px;
    }
  }
  if (!with_masks) return;
  const size_t map =
      static_cast<size_t>(batch->mask_width_px) * static_cast<size_t>(batch->mask_height_px);
  for (const SampleLabels& sample : labels) {
    append(sample.mask, &batch->masks);
    if (overlap_mask && sample.mask.empty()) batch->masks.insert(batch->masks.end(), map, 0);
  }
}

}  // namespace yoload
