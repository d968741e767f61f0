// Rows of a layer whose map turns or tilts the picture: run_simd's way for rotation, shear and
// perspective.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.h"
#include "core/plan.h"

namespace yoload {

/// Renders rows by gather. Positions, and which tile shows them, are worked out once a row and
/// serve all channels, so ask for the channels of a row one after the other. Keeps references to
/// its arguments.
class WarpRows {
 public:
  /// With `mirror` columns come out in reverse order.
  WarpRows(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
           bool mirror);

  /// Levels of one channel of output row `oy`.
  void render(int channel, int oy, uint8_t* out);

 private:
  /// A rectangle of left/top neighbours (exact) or nearest pixels (fused) that see the same tiles.
  struct Cell {
    int64_t x0 = 0, x1 = 0, y0 = 0, y1 = 0;
    const PlanTile* tile = nullptr;  ///< null: padding
    bool seam = false;               ///< exact: the 2x2 neighbourhood shows more than one thing

    bool holds(int64_t x, int64_t y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
  };
  /// Output columns [first, last) of one cell.
  struct Run {
    size_t first = 0, last = 0;
    const PlanTile* tile = nullptr;
    bool seam = false;
  };

  int column(size_t i) const;
  Cell cell_at(int64_t x, int64_t y) const;
  void select_runs(int oy);
  void move_into_tile(const Run& run);

  const SamplePlan& plan_;
  const PlanLayer& layer_;
  const std::span<const ImageView> tiles_;
  const bool mirror_;
  const bool exact_;
  int row_ = -1;                  ///< the row that runs_ belongs to
  std::vector<int64_t> cx_, cy_;  ///< Q32: on the canvas (exact), in the tile of the run (fused)
  std::vector<Run> runs_;
};

}  // namespace yoload
