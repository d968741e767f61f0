// Rows of an axis-aligned layer in `exact` fidelity: the case that training spends its time in.
//
// Note [Row blending]. With an axis-aligned map all outputs of a row lie between the same two
// canvas rows, and all rows use the same columns. So each output row is: one vertical blend of the
// two canvas rows, over the source columns that are shown, into a Q7 buffer; then one horizontal
// look-up with a table that the whole sample shares. Which tiles a canvas row crosses changes only
// at tile edges: a band is a range of canvas rows with the same tiles, and a pair of bands (upper
// row, lower row) has one list of spans.
// SPDX-License-Identifier: Apache-2.0
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
class ExactRows {
 public:
  /// With `mirror` columns come out in reverse order, which costs nothing: it is in the table.
  ExactRows(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
            bool mirror, RenderScratch::Buffers* buffers);

  /// Levels of one channel of output row `oy`. Columns outside of shown() become `pad`.
  void render(int channel, int oy, uint8_t pad, uint8_t* out);
  /// Columns of the row rendered last that may show a picture: whole blocks of the column table.
  ColumnRange shown() const { return shown_; }

 private:
  /// Canvas columns [x0, x1) come from these tiles; null is padding.
  struct Span {
    int x0 = 0, x1 = 0;
    const PlanTile* upper = nullptr;
    const PlanTile* lower = nullptr;
  };

  void build_columns(bool mirror);
  void select_spans(int64_t top);
  void show_columns(int left, int right);
  const uint8_t* span_row(const PlanTile* tile, int channel, int64_t canvas_y, int canvas_x) const;

  const SamplePlan& plan_;
  const PlanLayer& layer_;
  const std::span<const ImageView> tiles_;
  RenderScratch::Buffers* buffers_;
  ColumnTable columns_;
  ColumnRange shown_;
  bool increasing_ = true;                  ///< column indices
  int first_column_ = 0, last_column_ = 0;  ///< canvas columns that any output reads
  int64_t band_first_ = 0, band_last_ = 0;  ///< upper canvas rows that spans_ is right for
  std::vector<Span> spans_;
};

/// Distance in memory to the tile row that is needed a few output rows from now, for prefetching.
/// `rows_per_row_q32`: canvas rows per output row.
ptrdiff_t ahead_bytes(const PlanTile* tile, std::span<const ImageView> tiles,
                      int64_t rows_per_row_q32);

}  // namespace yoload
