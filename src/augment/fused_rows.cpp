// SPDX-License-Identifier: Apache-2.0
#include "augment/fused_rows.h"

#include <algorithm>
#include <cstring>

#include "augment/exact_rows.h"
#include "augment/pixel.h"

namespace yoload {

void FusedRows::render(int channel, int oy, uint8_t* out) {
  constexpr int64_t kHalf = int64_t{1} << 31;
  const int64_t cy = layer_.map.yy * oy + layer_.map.y0;
  const int64_t nearest = (cy + kHalf) >> 32;
  select_runs(nearest);
  for (Run& run : runs_) {
    const auto count = static_cast<size_t>(run.x1 - run.x0);
    if (run.tile == nullptr) {
      std::memset(out + run.x0, kPadValue, count);
      continue;
    }
    const auto source = static_cast<size_t>(run.tile->source);
    const ImageView& view = tiles_[source];
    const int64_t sy = fused_coordinate(cy, run.tile->offset_y,
                                        fused_step(view.height_px, plan_.sources[source].height_px),
                                        view.height_px);
    const int y0 = static_cast<int>(sy >> 32), y1 = std::min(y0 + 1, view.height_px - 1);
    const auto wanted = static_cast<size_t>(run.last - run.first) + kRowSlack;
    if (buffers_->blended.size() < wanted) buffers_->blended.resize(wanted);
    blend_rows(view.row(channel, y0) + run.first, view.row(channel, y1) + run.first,
               weight_of_q32(sy), static_cast<size_t>(run.last - run.first),
               ahead_bytes(run.tile, tiles_, layer_.map.yy), buffers_->blended.data());
    sample_columns(buffers_->blended.data(), run.columns, {0, run.columns.columns}, out + run.x0);
  }
}

/// The runs of a row, made anew only when its nearest canvas row enters another band of tiles.
void FusedRows::select_runs(int64_t nearest) {
  if (nearest >= band_first_ && nearest < band_last_) return;
  constexpr int64_t kHalf = int64_t{1} << 31;
  band_first_ = INT64_MIN, band_last_ = INT64_MAX;
  for (const PlanTile& tile : layer_.tiles) {
    for (const int64_t y : {tile.y0, tile.y1}) {
      if (y <= nearest) band_first_ = std::max(band_first_, y);
      if (y > nearest) band_last_ = std::min(band_last_, y);
    }
  }
  runs_.clear();
  for (int ox = 0; ox < plan_.out_width_px; ++ox) {
    const int64_t cx = layer_.map.xx * output_column(ox) + layer_.map.x0;
    const PlanTile* tile = tile_at(layer_, (cx + kHalf) >> 32, nearest);
    if (runs_.empty() || runs_.back().tile != tile) runs_.push_back({ox, ox, tile, 0, 0, {}});
    runs_.back().x1 = ox + 1;
  }
  for (Run& run : runs_) {
    if (run.tile != nullptr) fill_run(&run);
  }
}

void FusedRows::fill_run(Run* run) const {
  const auto source = static_cast<size_t>(run->tile->source);
  const int pixels = tiles_[source].width_px;
  const int64_t step = fused_step(pixels, plan_.sources[source].width_px);
  std::vector<int64_t> at;
  run->first = pixels, run->last = 0;
  for (int ox = run->x0; ox < run->x1; ++ox) {
    const int64_t cx = layer_.map.xx * output_column(ox) + layer_.map.x0;
    at.push_back(fused_coordinate(cx, run->tile->offset_x, step, pixels));
    run->first = std::min(run->first, static_cast<int>(at.back() >> 32));
    run->last = std::max(run->last, std::min(static_cast<int>(at.back() >> 32) + 2, pixels));
  }
  run->columns.resize(at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    run->columns.index[i] = static_cast<int32_t>(at[i] >> 32) - run->first;
    // At the last column the coordinate is clamped to a whole number, so its weight is zero.
    run->columns.weight_q15[i] = static_cast<int16_t>(weight_of_q32(at[i]));
  }
  run->columns.finish();
}

}  // namespace yoload
