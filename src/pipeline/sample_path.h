// The way of one sample: position -> draws -> plan and labels -> pixels in their place of the
// batch. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "augment/plan.h"
#include "core/dataset_index.h"
#include "core/render_target.h"
#include "pipeline/epoch.h"
#include "pipeline/tile_path.h"
#include "yoload/loader.h"
#include "yoload/options.h"

namespace yoload {

/// A picture that a sample needs: what stands at its position now.
struct SampleSource {
  uint32_t record = 0;
  const Tile* tile = nullptr;
};

/// Pure functions of the options and the index. Thread-safe.
class SamplePath {
 public:
  SamplePath(const LoaderOptions& options, const DatasetIndex& index);

  SampleDraws draw(const Epoch& epoch, uint64_t position) const;
  PlannedSample lay_out_sample(const Epoch& epoch, const SampleDraws& draws, BatchShape shape,
                               std::span<const uint32_t> records) const;
  /// Plan and labels of one sample, and what its entry in the batch says.
  PlannedSample plan(const Epoch& epoch, const SampleDraws& draws, BatchShape shape,
                     std::span<const uint32_t> records, ThreadClocks* clocks,
                     SampleInfo* info) const;
  /// How pixels are to be stored; `data` is left to the caller.
  RenderTarget target(BatchShape shape) const;
  /// Plans and renders one sample into `place` (C,H,W of the batch's dtype); returns its labels.
  SampleLabels render(const Epoch& epoch, const SampleDraws& draws, BatchShape shape,
                      std::span<const SampleSource> sources, void* place, WorkerState* worker,
                      SampleInfo* info) const;

 private:
  PlanContext context(const Epoch& epoch, BatchShape shape) const;
  const LoaderOptions& options_;
  const DatasetIndex& index_;
};

}  // namespace yoload
