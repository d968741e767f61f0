// SPDX-License-Identifier: Apache-2.0
#include "augment/exact_rows.h"

#include <algorithm>
#include <cstring>

#include "augment/pixel.h"

namespace yoload {
namespace {

// The blended row starts with two pad entries, so that canvas column -2 and everything left of it
// has a place; behind the last column come two more.
constexpr int kMarginPx = 2;

}  // namespace

ExactRows::ExactRows(const SamplePlan& plan, const PlanLayer& layer,
                     std::span<const ImageView> tiles, bool mirror, RenderScratch::Buffers* buffers)
    : plan_(plan), layer_(layer), tiles_(tiles), buffers_(buffers) {
  build_columns(mirror);
  const auto width = static_cast<size_t>(layer.canvas_width_px) + 2 * kMarginPx + kRowSlack;
  if (buffers->pad_row.size() < width) buffers->pad_row.assign(width, kPadValue);
  if (buffers->blended.size() < width) buffers->blended.resize(width);
}

void ExactRows::render(int channel, int oy, uint8_t pad, uint8_t* out) {
  const int64_t cy = layer_.map.yy * oy + layer_.map.y0;
  const int64_t top = cy >> 32;
  select_spans(top);
  std::memset(out, pad, shown_.first);
  std::memset(out + shown_.last, pad, static_cast<size_t>(plan_.out_width_px) - shown_.last);
  if (shown_.first == shown_.last) return;
  int16_t* blended = buffers_->blended.data();
  for (const Span& span : spans_) {
    blend_rows(span_row(span.upper, channel, top, span.x0),
               span_row(span.lower, channel, top + 1, span.x0), weight_of_q32(cy),
               static_cast<size_t>(span.x1 - span.x0),
               ahead_bytes(span.lower, tiles_, layer_.map.yy), blended + span.x0 + kMarginPx);
  }
  sample_columns(blended, columns_, shown_, out);
}

void ExactRows::build_columns(bool mirror) {
  columns_.resize(static_cast<size_t>(plan_.out_width_px));
  const int width = layer_.canvas_width_px;
  int low = width + kMarginPx, high = -kMarginPx;
  for (int ox = 0; ox < plan_.out_width_px; ++ox) {
    const int64_t cx = layer_.map.xx * (mirror ? plan_.out_width_px - 1 - ox : ox) + layer_.map.x0;
    const auto column = std::clamp<int64_t>(cx >> 32, -kMarginPx, width);
    // Beyond the margins both neighbours are padding and the weight does not matter.
    columns_.index[static_cast<size_t>(ox)] = static_cast<int32_t>(column) + kMarginPx;
    columns_.weight_q15[static_cast<size_t>(ox)] = static_cast<int16_t>(weight_of_q32(cx));
    low = std::min(low, static_cast<int>(column)),
    high = std::max(high, static_cast<int>(column) + 1);
  }
  columns_.finish();
  increasing_ = columns_.index.front() <= columns_.index[columns_.columns - 1];
  first_column_ = low;
  last_column_ = std::min(high + 1, width + kMarginPx);
}

/// Spans for canvas rows `top` and `top + 1`, made anew only when either enters another band.
void ExactRows::select_spans(int64_t top) {
  if (top >= band_first_ && top < band_last_) return;
  const int64_t height = layer_.canvas_height_px;
  // The band around `top` in which neither row crosses a tile edge.
  band_first_ = INT64_MIN, band_last_ = INT64_MAX;
  const auto edge = [&](int64_t y) {
    if (y <= top) band_first_ = std::max(band_first_, y);
    if (y > top) band_last_ = std::min(band_last_, y);
  };
  for (const PlanTile& tile : layer_.tiles) {
    edge(tile.y0), edge(tile.y0 - 1), edge(tile.y1), edge(tile.y1 - 1);
  }
  spans_.clear();
  shown_ = {0, 0};
  if (top < -1 || top >= height) return;
  std::vector<int> edges = {first_column_, last_column_};
  for (const PlanTile& tile : layer_.tiles) {
    for (const int x : {tile.x0, tile.x1}) {
      if (x > first_column_ && x < last_column_) edges.push_back(x);
    }
  }
  std::sort(edges.begin(), edges.end());
  int left = last_column_, right = first_column_;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    if (edges[i] == edges[i + 1]) continue;
    const Span span = {edges[i], edges[i + 1], tile_at(layer_, edges[i], top),
                       tile_at(layer_, edges[i], top + 1)};
    spans_.push_back(span);
    if (span.upper == nullptr && span.lower == nullptr) continue;
    left = std::min(left, span.x0), right = std::max(right, span.x1);
  }
  if (left < right) show_columns(left, right);
}

/// Limits the work to output columns that see canvas columns [left, right), in whole blocks, and
/// the spans to what these blocks read.
void ExactRows::show_columns(int left, int right) {
  // An output sees its left neighbour and the one right of it.
  const auto sees = [&](int32_t index) {
    const int column = index - kMarginPx;
    return column >= left - 1 && column < right;
  };
  const auto begin = columns_.index.begin(), end = begin + static_cast<ptrdiff_t>(columns_.columns);
  // Indices only grow, or only shrink when mirrored.
  const auto first = std::partition_point(begin, end, [&](int32_t index) {
    return increasing_ ? index - kMarginPx < left - 1 : index - kMarginPx >= right;
  });
  const auto last = std::partition_point(first, end, sees);
  if (first == last) return;
  const auto at_first = static_cast<size_t>(first - begin),
             at_last = static_cast<size_t>(last - begin);
  shown_.first = at_first / kColumnBlock * kColumnBlock;
  shown_.last =
      std::min((at_last + kColumnBlock - 1) / kColumnBlock * kColumnBlock, columns_.columns);
  const int a = columns_.index[shown_.first] - kMarginPx,
            b = columns_.index[shown_.last - 1] - kMarginPx;
  const int low = std::min(a, b), high = std::max(a, b) + 2;
  for (Span& span : spans_) span.x0 = std::max(span.x0, low), span.x1 = std::min(span.x1, high);
  std::erase_if(spans_, [](const Span& span) { return span.x0 >= span.x1; });
}

const uint8_t* ExactRows::span_row(const PlanTile* tile, int channel, int64_t canvas_y,
                                   int canvas_x) const {
  if (tile == nullptr) return buffers_->pad_row.data();
  return tiles_[static_cast<size_t>(tile->source)].row(
             channel, static_cast<int>(canvas_y - tile->offset_y)) +
         (canvas_x - tile->offset_x);
}

ptrdiff_t ahead_bytes(const PlanTile* tile, std::span<const ImageView> tiles,
                      int64_t rows_per_row_q32) {
  constexpr int64_t kRowsAhead = 4;
  if (tile == nullptr) return 0;
  const auto stride =
      static_cast<ptrdiff_t>(tiles[static_cast<size_t>(tile->source)].row_stride_bytes);
  return static_cast<ptrdiff_t>(kRowsAhead * rows_per_row_q32 >> 32) * stride;
}

}  // namespace yoload
