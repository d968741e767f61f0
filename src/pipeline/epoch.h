// One epoch as the engine walks it: which record stands at which position, in batches of which
// shape. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/dataset_index.h"
#include "sampler/order.h"
#include "sampler/rect_batches.h"
#include "yoload/options.h"

namespace yoload {

/// Immutable; shared by all threads that work on the epoch.
class Epoch {
 public:
  /// `rect` may be null: square batches in (shuffled) order.
  Epoch(const LoaderOptions& options, const DatasetIndex& index, uint32_t epoch,
        std::shared_ptr<const RectBatches> rect);

  uint32_t number() const { return number_; }
  uint64_t images() const { return images_; }
  uint64_t samples() const { return samples_; }  ///< of this rank
  /// Place of the rank's sample `sample` in the global order; past images() it is a repetition.
  uint64_t position_of(uint64_t sample) const { return sample * world_size_ + rank_; }
  /// Batch that holds a position, on whichever rank.
  uint64_t batch_of(uint64_t position) const { return position / world_size_ / batch_size_; }
  uint64_t batches() const { return batches_; }
  /// Samples in batch `batch`: batch_size, or what is left in the last one.
  int batch_samples(uint64_t batch) const;
  uint32_t record_at(uint64_t position) const;
  /// Record that stands in for the one at `position` when `attempt` (1, 2, ...) earlier ones
  /// failed.
  uint32_t replacement(uint64_t position, uint32_t attempt) const;
  BatchShape shape_of(uint64_t batch) const;
  PartnerWindow window_of(uint64_t position) const;
  /// Last position whose window holds `position`: after it the picture is not needed any more.
  uint64_t last_user(uint64_t position) const;
  /// False in the last `close_mosaic` epochs of a planned run.
  bool mosaic_allowed() const { return mosaic_allowed_; }

 private:
  const uint32_t number_;
  const uint64_t seed_;
  const uint64_t images_;
  const uint64_t rank_, world_size_;
  const uint64_t samples_;
  const uint64_t batch_size_;
  const uint64_t batches_;
  const uint32_t window_;
  const int imgsz_;
  const int stride_;
  const double multi_scale_;
  const bool mosaic_allowed_;
  const EpochOrder order_;
  const std::shared_ptr<const RectBatches> rect_;
};

}  // namespace yoload
