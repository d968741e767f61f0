// The fast executor: rows instead of pixels.
//
// Note [Row blending]. With an axis-aligned map all outputs of a row lie between the same two
// canvas rows, and all rows use the same columns. So each output row is: one vertical blend of the
// two canvas rows, over the source columns that are shown, into a Q7 buffer; then one horizontal
// look-up with a table that the whole sample shares. Which tiles a canvas row crosses changes only
// at tile edges: a band is a range of canvas rows with the same tiles, and a pair of bands (upper
// row, lower row) has one list of spans.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include "augment/canvas.h"
#include "augment/column_kernels.h"
#include "augment/filter.h"
#include "augment/hsv_kernel.h"
#include "augment/pixel.h"
#include "augment/run.h"
#include "augment/scratch.h"
#include "augment/store_kernels.h"
#include "augment/warp_rows.h"

namespace yoload {
namespace {

// The blended row starts with two pad entries, so that canvas column -2 and everything left of it
// has a place; behind the last column come two more.
constexpr int kMarginPx = 2;
// Vector kernels read and write up to this many entries past the end.
constexpr size_t kSlack = 128;

/// Renders rows of one layer. Columns come out mirrored if asked, which costs nothing in the
/// tables.
class LayerRows {
 public:
  LayerRows(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
            bool mirror, RenderScratch::Buffers* buffers)
      : plan_(plan),
        layer_(layer),
        tiles_(tiles),
        mirror_(mirror),
        buffers_(buffers),
        shown_{0, static_cast<size_t>(plan.out_width_px)} {
    if (layer.map.kind == MapKind::affine || layer.map.kind == MapKind::perspective) {
      warped_.emplace(plan, layer, tiles, mirror);
      return;
    }
    if (plan.fidelity == Fidelity::exact) {
      build_exact_columns();
      const auto width = static_cast<size_t>(layer.canvas_width_px) + 2 * kMarginPx + kSlack;
      if (buffers->pad_row.size() < width) buffers->pad_row.assign(width, kPadValue);
      if (buffers->blended.size() < width) buffers->blended.resize(width);
    }
  }

  /// Levels of output row `oy`, one call a channel. Columns outside of shown() become `pad`.
  void render(int channel, int oy, uint8_t pad, uint8_t* out) {
    if (warped_) return warped_->render(channel, oy, out);
    if (plan_.fidelity == Fidelity::fused) return render_fused(channel, oy, out);
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
                 static_cast<size_t>(span.x1 - span.x0), ahead_bytes(span.lower, layer_.map.yy),
                 blended + span.x0 + kMarginPx);
    }
    sample_columns(blended, columns_, shown_, out);
  }

  /// Columns of the row rendered last that may show a picture: whole blocks of the column table.
  ColumnRange shown() const { return shown_; }

 private:
  /// Canvas columns [x0, x1) come from these tiles; null is padding.
  struct Span {
    int x0 = 0, x1 = 0;
    const PlanTile* upper = nullptr;
    const PlanTile* lower = nullptr;
  };

  int64_t output_column(int ox) const { return mirror_ ? plan_.out_width_px - 1 - ox : ox; }

  void build_exact_columns() {
    columns_.resize(static_cast<size_t>(plan_.out_width_px));
    const int width = layer_.canvas_width_px;
    int low = width + kMarginPx, high = -kMarginPx;
    for (int ox = 0; ox < plan_.out_width_px; ++ox) {
      const int64_t cx = layer_.map.xx * output_column(ox) + layer_.map.x0;
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
  void select_spans(int64_t top) {
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
  void show_columns(int left, int right) {
    // An output sees its left neighbour and the one right of it.
    const auto sees = [&](int32_t index) {
      const int column = index - kMarginPx;
      return column >= left - 1 && column < right;
    };
    const auto begin = columns_.index.begin(),
               end = begin + static_cast<ptrdiff_t>(columns_.columns);
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

  const uint8_t* span_row(const PlanTile* tile, int channel, int64_t canvas_y, int canvas_x) const {
    if (tile == nullptr) return buffers_->pad_row.data();
    return tiles_[static_cast<size_t>(tile->source)].row(
               channel, static_cast<int>(canvas_y - tile->offset_y)) +
           (canvas_x - tile->offset_x);
  }

  /// Distance to the tile row that is needed a few output rows from now.
  ptrdiff_t ahead_bytes(const PlanTile* tile, int64_t rows_per_row_q32) const {
    constexpr int64_t kRowsAhead = 4;
    if (tile == nullptr) return 0;
    const auto stride =
        static_cast<ptrdiff_t>(tiles_[static_cast<size_t>(tile->source)].row_stride_bytes);
    return static_cast<ptrdiff_t>(kRowsAhead * rows_per_row_q32 >> 32) * stride;
  }

  /// Fused and axis-aligned: per band of tiles one table of runs, each with its own tile and
  /// columns.
  void render_fused(int channel, int oy, uint8_t* out) {
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
      const int64_t sy = fused_coordinate(
          cy, run.tile->offset_y, fused_step(view.height_px, plan_.sources[source].height_px),
          view.height_px);
      const int y0 = static_cast<int>(sy >> 32), y1 = std::min(y0 + 1, view.height_px - 1);
      const auto wanted = static_cast<size_t>(run.last - run.first) + kSlack;
      if (buffers_->blended.size() < wanted) buffers_->blended.resize(wanted);
      blend_rows(view.row(channel, y0) + run.first, view.row(channel, y1) + run.first,
                 weight_of_q32(sy), static_cast<size_t>(run.last - run.first),
                 ahead_bytes(run.tile, layer_.map.yy), buffers_->blended.data());
      sample_columns(buffers_->blended.data(), run.columns, {0, run.columns.columns}, out + run.x0);
    }
  }

  /// Output columns [x0, x1) that show one tile, and the tile's columns [first, last) that they
  /// need.
  struct Run {
    int x0 = 0, x1 = 0;
    const PlanTile* tile = nullptr;
    int first = 0, last = 0;
    ColumnTable columns;
  };

  void select_runs(int64_t nearest) {
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

  void fill_run(Run* run) const {
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

  const SamplePlan& plan_;
  const PlanLayer& layer_;
  const std::span<const ImageView> tiles_;
  const bool mirror_;
  RenderScratch::Buffers* buffers_;
  std::optional<WarpRows> warped_;  ///< for maps whose rows and columns do not separate
  ColumnTable columns_;
  ColumnRange shown_;
  bool increasing_ = true;  ///< column indices
  int first_column_ = 0, last_column_ = 0;
  int64_t band_first_ = 0, band_last_ = 0;
  std::vector<Span> spans_;
  std::vector<Run> runs_;
};

/// Puts finished rows into their place: channel order, rows upside down, number type.
class RowStore {
 public:
  RowStore(const SamplePlan& plan, const RenderTarget& target) : plan_(plan), target_(target) {}

  /// Element offset of a row in the target.
  size_t place(int channel, int y) const {
    const int to_channel = plan_.bgr && target_.channels == 3 ? 2 - channel : channel;
    const int to_y = plan_.flipud ? target_.height_px - 1 - y : y;
    return (static_cast<size_t>(to_channel) * static_cast<size_t>(target_.height_px) +
            static_cast<size_t>(to_y)) *
           static_cast<size_t>(target_.width_px);
  }
  /// Where a row of levels can be written directly, or null for float types.
  uint8_t* direct(int channel, int y) const {
    return target_.dtype == DType::uint8 ? static_cast<uint8_t*>(target_.data) + place(channel, y)
                                         : nullptr;
  }
  void store(int channel, int y, const uint8_t* row) const {
    const int to_channel = plan_.bgr && target_.channels == 3 ? 2 - channel : channel;
    const auto scale = static_cast<size_t>(std::min(to_channel, 2));
    const auto width = static_cast<size_t>(target_.width_px);
    switch (target_.dtype) {
      case DType::uint8:
        std::memcpy(direct(channel, y), row, width);
        break;
      case DType::float16:
        half_row(row, target_.mul[scale], target_.add[scale], width,
                 static_cast<uint16_t*>(target_.data) + place(channel, y));
        break;
      case DType::float32:
        float_row(row, target_.mul[scale], target_.add[scale], width,
                  static_cast<float*>(target_.data) + place(channel, y));
        break;
    }
  }

 private:
  const SamplePlan& plan_;
  const RenderTarget& target_;
};

/// Layers and their mix, a row at a time.
class MixedRows {
 public:
  MixedRows(const SamplePlan& plan, std::span<const ImageView> tiles, bool mirror,
            RenderScratch::Buffers* buffers)
      : mix_(plan.mix),
        width_(static_cast<size_t>(plan.out_width_px)),
        first_(plan, plan.layers[0], tiles, mirror, buffers),
        other_row_(buffers->mix_rows) {
    if (mix_.kind == MixKind::none) return;
    second_.emplace(plan, plan.layers[1], tiles, mirror, buffers);
    if (other_row_.size() < width_) other_row_.resize(width_);
    if (mirror) {
      const int width = plan.out_width_px;
      mix_.x0 = width - plan.mix.x1;
      mix_.x1 = width - plan.mix.x0;
    }
  }

  /// `pad` is the level of columns outside of shown().
  void render(int channel, int y, uint8_t pad, uint8_t* out) {
    if (!second_) return first_.render(channel, y, pad, out);
    first_.render(channel, y, kPadValue, out);
    if (mix_.kind == MixKind::mixup) {
      second_->render(channel, y, kPadValue, other_row_.data());
      mix_row(other_row_.data(), mix_.weight_q16, width_, out);
    } else if (y >= mix_.y0 && y < mix_.y1 && mix_.x1 > mix_.x0) {
      second_->render(channel, y, kPadValue, other_row_.data());
      std::copy(other_row_.begin() + mix_.x0, other_row_.begin() + mix_.x1, out + mix_.x0);
    }
  }

  /// Columns of the row rendered last that may differ from `pad`.
  ColumnRange shown() const { return second_ ? ColumnRange{0, width_} : first_.shown(); }

 private:
  PlanMix mix_;
  const size_t width_;
  LayerRows first_;
  std::optional<LayerRows> second_;
  std::vector<uint8_t>& other_row_;
};

}  // namespace

void run_simd(const SamplePlan& plan, std::span<const ImageView> tiles, const RenderTarget& target,
              RenderScratch& scratch) {
  if (has_pastes(plan)) {
    const DrawnCanvases drawn = draw_canvases(plan, tiles, run_simd, scratch);
    return run_simd(drawn.plan, drawn.tiles, target, scratch);
  }
  RenderScratch::Buffers& buffers = scratch.buffers();
  const auto width = static_cast<size_t>(plan.out_width_px);
  const int channels = target.channels;
  const bool filtered = !plan.filters.empty();
  // A filter has to see the sample as it is before the flips.
  MixedRows rows(plan, tiles, plan.fliplr && !filtered, &buffers);
  const RowStore store(plan, target);
  const bool colour = plan.hsv.enabled && channels == 3;

  MutableImageView sample;
  if (filtered) {
    sample = buffers.sample(plan.out_width_px, plan.out_height_px, channels);
    for (int channel = 0; channel < channels; ++channel) {
      for (int y = 0; y < plan.out_height_px; ++y) {
        rows.render(channel, y, kPadValue, sample.row(channel, y));
      }
    }
    apply_filters(plan.filters, sample, scratch);
  }

  if (buffers.rows.size() < width * static_cast<size_t>(channels)) {
    buffers.rows.resize(width * static_cast<size_t>(channels));
  }
  std::vector<uint8_t*> row(static_cast<size_t>(channels));
  // Padding is gray, so its colour is one level, before and after HSV.
  const uint8_t pad =
      colour && !filtered ? hsv_pixel(kPadValue, kPadValue, kPadValue, plan.hsv)[0] : kPadValue;
  for (int y = 0; y < plan.out_height_px; ++y) {
    for (int channel = 0; channel < channels; ++channel) {
      const auto c = static_cast<size_t>(channel);
      uint8_t* direct = store.direct(channel, y);
      row[c] = direct != nullptr ? direct : buffers.rows.data() + c * width;
      if (!filtered) {
        rows.render(channel, y, pad, row[c]);
      } else if (plan.fliplr) {
        reverse_row(sample.row(channel, y), width, row[c]);
      } else {
        std::memcpy(row[c], sample.row(channel, y), width);
      }
    }
    if (colour) {
      const ColumnRange shown = filtered ? ColumnRange{0, width} : rows.shown();
      hsv_row(plan.hsv, shown.last - shown.first, row[0] + shown.first, row[1] + shown.first,
              row[2] + shown.first);
    }
    if (target.dtype != DType::uint8) {
      for (int channel = 0; channel < channels; ++channel)
        store.store(channel, y, row[static_cast<size_t>(channel)]);
    }
  }
}

}  // namespace yoload
