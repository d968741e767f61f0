// The fast executor: rows instead of pixels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include "augment/canvas.h"
#include "augment/exact_rows.h"
#include "augment/filter.h"
#include "augment/fused_rows.h"
#include "augment/hsv_kernel.h"
#include "augment/pixel.h"
#include "augment/run.h"
#include "augment/scratch.h"
#include "augment/store_kernels.h"
#include "augment/warp_rows.h"

namespace yoload {
namespace {

/// Renders rows of one layer by whatever suits its map. Columns come out mirrored if asked.
class LayerRows {
 public:
  LayerRows(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
            bool mirror, RenderScratch::Buffers* buffers)
      : width_(static_cast<size_t>(plan.out_width_px)) {
    if (layer.map.kind == MapKind::affine || layer.map.kind == MapKind::perspective) {
      warped_.emplace(plan, layer, tiles, mirror);
    } else if (plan.fidelity == Fidelity::fused) {
      fused_.emplace(plan, layer, tiles, mirror, buffers);
    } else {
      exact_.emplace(plan, layer, tiles, mirror, buffers);
    }
  }

  /// Levels of output row `oy`; all channels of a row one after the other. Columns outside of
  /// shown() become `pad`.
  void render(int channel, int oy, uint8_t pad, uint8_t* out) {
    if (exact_) return exact_->render(channel, oy, pad, out);
    if (fused_) return fused_->render(channel, oy, out);
    warped_->render(channel, oy, out);
  }

  /// Columns of the row rendered last that may show a picture.
  ColumnRange shown() const { return exact_ ? exact_->shown() : ColumnRange{0, width_}; }

 private:
  const size_t width_;
  std::optional<ExactRows> exact_;
  std::optional<FusedRows> fused_;
  std::optional<WarpRows> warped_;  ///< for maps whose rows and columns do not separate
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
      case DType::bfloat16:
        bfloat_row(row, target_.mul[scale], target_.add[scale], width,
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
        mirror_(mirror),
        first_(plan, plan.layers[0], tiles, mirror, buffers),
        pasted_(paste_mask(plan)),
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
    } else if (mix_.kind == MixKind::paste) {
      paste(channel, y, out);
    } else if (y >= mix_.y0 && y < mix_.y1 && mix_.x1 > mix_.x0) {
      second_->render(channel, y, kPadValue, other_row_.data());
      std::copy(other_row_.begin() + mix_.x0, other_row_.begin() + mix_.x1, out + mix_.x0);
    }
  }

  /// Columns of the row rendered last that may differ from `pad`.
  ColumnRange shown() const { return second_ ? ColumnRange{0, width_} : first_.shown(); }

 private:
  void paste(int channel, int y, uint8_t* out) {
    const auto begin = pasted_.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(y) * width_);
    if (std::none_of(begin, begin + static_cast<ptrdiff_t>(width_),
                     [](int32_t set) { return set != 0; }))
      return;
    second_->render(channel, y, kPadValue, other_row_.data());
    for (size_t x = 0; x < width_; ++x) {
      if (begin[static_cast<ptrdiff_t>(mirror_ ? width_ - 1 - x : x)] != 0) out[x] = other_row_[x];
    }
  }

  PlanMix mix_;
  const size_t width_;
  const bool mirror_;
  LayerRows first_;
  const std::vector<int32_t> pasted_;  ///< paste: output pixels of the second layer
  std::optional<LayerRows> second_;
  std::vector<uint8_t>& other_row_;
};

/// Rows lie as they will be seen from left to right already; only flipud is still to come.
void erase(const SamplePlan& plan, int y, const std::vector<uint8_t*>& rows) {
  const int seen_y = plan.flipud ? plan.out_height_px - 1 - y : y;
  if (seen_y < plan.erase.y0 || seen_y >= plan.erase.y1) return;
  for (uint8_t* row : rows) std::fill(row + plan.erase.x0, row + plan.erase.x1, uint8_t{0});
}

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
    erase(plan, y, row);
    if (target.dtype != DType::uint8) {
      for (int channel = 0; channel < channels; ++channel)
        store.store(channel, y, row[static_cast<size_t>(channel)]);
    }
  }
}

}  // namespace yoload
