// Rows of an axis-aligned layer in `fused` fidelity: each output column shows one tile, sampled
// straight from its decoded picture. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "augment/column_kernels.h"
#include "augment/scratch.h"
#include "core/image.h"
#include "core/plan.h"

namespace yoload {

/// Keeps references to its arguments; one thread.
class FusedRows {
 public:
  /// With `mirror` columns come out in reverse order.
  FusedRows(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
            bool mirror, RenderScratch::Buffers* buffers)
      : plan_(plan), layer_(layer), tiles_(tiles), mirror_(mirror), buffers_(buffers) {}

  /// Levels of one channel of output row `oy`.
  void render(int channel, int oy, uint8_t* out);

 private:
  /// Output columns [x0, x1) that show one tile, and the tile's columns [first, last) that they
  /// need.
  struct Run {
    int x0 = 0, x1 = 0;
    const PlanTile* tile = nullptr;
    int first = 0, last = 0;
    ColumnTable columns;
  };

  int64_t output_column(int ox) const { return mirror_ ? plan_.out_width_px - 1 - ox : ox; }
  void select_runs(int64_t nearest);
  void fill_run(Run* run) const;

  const SamplePlan& plan_;
  const PlanLayer& layer_;
  const std::span<const ImageView> tiles_;
  const bool mirror_;
  RenderScratch::Buffers* buffers_;
  int64_t band_first_ = 0, band_last_ = 0;  ///< nearest canvas rows that runs_ is right for
  std::vector<Run> runs_;
};

}  // namespace yoload
