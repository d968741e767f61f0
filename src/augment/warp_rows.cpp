// SPDX-License-Identifier: Apache-2.0
#include "augment/warp_rows.h"

#include <algorithm>
#include <cstring>

#include "augment/pixel.h"
#include "augment/warp_kernels.h"

namespace yoload {
namespace {

constexpr int64_t kHalf = int64_t{1} << 31;
// position_row writes whole vectors.
constexpr size_t kSlack = 8;

}  // namespace

WarpRows::WarpRows(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
                   bool mirror)
    : plan_(plan),
      layer_(layer),
      tiles_(tiles),
      mirror_(mirror),
      exact_(plan.fidelity == Fidelity::exact),
      cx_(static_cast<size_t>(plan.out_width_px) + kSlack),
      cy_(cx_.size()) {}

int WarpRows::column(size_t i) const {
  const int ox = static_cast<int>(i);
  return mirror_ ? plan_.out_width_px - 1 - ox : ox;
}

WarpRows::Cell WarpRows::cell_at(int64_t x, int64_t y) const {
  Cell cell = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, nullptr, false};
  const auto edge = [](int64_t at, int64_t point, int64_t* low, int64_t* high) {
    if (at <= point) *low = std::max(*low, at);
    if (at > point) *high = std::min(*high, at);
  };
  for (const PlanTile& tile : layer_.tiles) {
    for (const int64_t at : {tile.x0, tile.x1}) edge(at, x, &cell.x0, &cell.x1);
    for (const int64_t at : {tile.y0, tile.y1}) edge(at, y, &cell.y0, &cell.y1);
    if (!exact_) continue;
    // The neighbour right or below enters a tile one pixel earlier.
    for (const int64_t at : {tile.x0, tile.x1}) edge(at - 1, x, &cell.x0, &cell.x1);
    for (const int64_t at : {tile.y0, tile.y1}) edge(at - 1, y, &cell.y0, &cell.y1);
  }
  cell.tile = tile_at(layer_, x, y);
  cell.seam =
      exact_ && (tile_at(layer_, x + 1, y) != cell.tile || tile_at(layer_, x, y + 1) != cell.tile ||
                 tile_at(layer_, x + 1, y + 1) != cell.tile);
  return cell;
}

void WarpRows::select_runs(int oy) {
  if (row_ == oy) return;
  row_ = oy;
  const auto width = static_cast<size_t>(plan_.out_width_px);
  position_row(layer_.map, column(0), mirror_ ? -1 : 1, oy, width, cx_.data(), cy_.data());
  runs_.clear();
  const int64_t rounding = exact_ ? 0 : kHalf;
  Cell cell;  // holds nothing yet
  for (size_t i = 0; i < width; ++i) {
    const int64_t x = (cx_[i] + rounding) >> 32, y = (cy_[i] + rounding) >> 32;
    if (!cell.holds(x, y)) {
      if (!runs_.empty()) runs_.back().last = i;
      cell = cell_at(x, y);
      runs_.push_back({i, width, cell.tile, cell.seam});
    }
  }
  if (exact_) return;
  for (const Run& run : runs_) {
    if (run.tile != nullptr) move_into_tile(run);
  }
}

/// Fused: replaces canvas positions by positions in the tile's own pixels.
void WarpRows::move_into_tile(const Run& run) {
  const auto source = static_cast<size_t>(run.tile->source);
  const ImageView& view = tiles_[source];
  const PlanSource& on_canvas = plan_.sources[source];
  const int64_t step_x = fused_step(view.width_px, on_canvas.width_px);
  const int64_t step_y = fused_step(view.height_px, on_canvas.height_px);
  for (size_t i = run.first; i < run.last; ++i) {
    cx_[i] = fused_coordinate(cx_[i], run.tile->offset_x, step_x, view.width_px);
    cy_[i] = fused_coordinate(cy_[i], run.tile->offset_y, step_y, view.height_px);
  }
}

void WarpRows::render(int channel, int oy, uint8_t* out) {
  select_runs(oy);
  for (const Run& run : runs_) {
    const size_t n = run.last - run.first;
    if (run.seam) {
      for (size_t i = run.first; i < run.last; ++i) {
        out[i] = sample_exact(layer_, tiles_, channel, {cx_[i], cy_[i]});
      }
    } else if (run.tile == nullptr) {
      std::memset(out + run.first, kPadValue, n);
    } else {
      const ImageView& view = tiles_[static_cast<size_t>(run.tile->source)];
      const PlacedPlane plane = {view.row(channel, 0), view.row_stride_bytes, view.height_px - 1,
                                 exact_ ? run.tile->offset_x : 0, exact_ ? run.tile->offset_y : 0};
      gather_row(plane, &cx_[run.first], &cy_[run.first], n, out + run.first);
    }
  }
}

}  // namespace yoload
