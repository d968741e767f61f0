// SPDX-License-Identifier: Apache-2.0
#include "augment/canvas.h"

#include <algorithm>
#include <utility>

#include "augment/mask.h"

namespace yoload {
namespace {

/// C,H,W bytes without gaps, as executors write them.
MutableImageView contiguous_view(const Buffer& buffer, int width, int height, int channels) {
  const auto row = static_cast<size_t>(width);
  return {buffer.data(), width, height, channels, row, row * static_cast<size_t>(height)};
}

Buffer draw_unpasted(const SamplePlan& plan, const PlanLayer& layer,
                     std::span<const ImageView> tiles, RunFunction run, RenderScratch& scratch) {
  SamplePlan flat;
  flat.out_width_px = layer.canvas_width_px, flat.out_height_px = layer.canvas_height_px;
  flat.channels = plan.channels;
  flat.fidelity = plan.fidelity;
  flat.sources = plan.sources;
  flat.layers = {{layer.canvas_width_px, layer.canvas_height_px, layer.tiles, {}, {}}};
  RenderTarget target;
  target.width_px = flat.out_width_px, target.height_px = flat.out_height_px;
  target.channels = plan.channels;
  Buffer canvas = Buffer::allocate(static_cast<size_t>(target.width_px) *
                                   static_cast<size_t>(target.height_px) *
                                   static_cast<size_t>(target.channels));
  target.data = canvas.data();
  run(flat, tiles, target, scratch);
  return canvas;
}

/// Where `pasted` is set, the canvas shows what it had at the mirrored column before any paste.
void paste_mirrored(const std::vector<int32_t>& pasted, const MutableImageView& canvas) {
  const auto width = static_cast<size_t>(canvas.width_px);
  for (int y = 0; y < canvas.height_px; ++y) {
    const int32_t* set = &pasted[static_cast<size_t>(y) * width];
    const auto is_set = [](int32_t value) { return value != 0; };
    const auto first = static_cast<size_t>(std::find_if(set, set + width, is_set) - set);
    if (first == width) continue;
    size_t last = width - 1;
    while (set[last] == 0) --last;
    const size_t outermost = std::min(first, width - 1 - last);
    for (int channel = 0; channel < canvas.channels; ++channel) {
      uint8_t* row = canvas.row(channel, y);
      // A column and its mirror image are read together, then written: either may be pasted.
      for (size_t left = outermost, right = width - 1 - outermost; left < right; ++left, --right) {
        const uint8_t a = row[left], b = row[right];
        row[left] = set[left] != 0 ? b : a;
        row[right] = set[right] != 0 ? a : b;
      }
    }
  }
}

}  // namespace

DrawnCanvases draw_canvases(const SamplePlan& plan, std::span<const ImageView> tiles,
                            RunFunction run, RenderScratch& scratch) {
  DrawnCanvases drawn;
  drawn.plan = plan;
  drawn.plan.fidelity = Fidelity::exact;
  drawn.plan.sources.clear();
  std::vector<int32_t> pasted;
  for (PlanLayer& layer : drawn.plan.layers) {
    const int width = layer.canvas_width_px, height = layer.canvas_height_px;
    Buffer canvas = draw_unpasted(plan, layer, tiles, run, scratch);
    const MutableImageView view = contiguous_view(canvas, width, height, plan.channels);
    if (!layer.pastes.empty()) {
      pasted.assign(static_cast<size_t>(width) * static_cast<size_t>(height), 0);
      for (const PlanPaste& paste : layer.pastes)
        fill_polygon(paste.polygon, 1, width, height, pasted.data());
      paste_mirrored(pasted, view);
      layer.pastes.clear();
    }
    layer.tiles = {{static_cast<int32_t>(drawn.plan.sources.size()), 0, 0, width, height, 0, 0}};
    drawn.plan.sources.push_back({0, 0, width, height});
    drawn.tiles.push_back(
        {view.data, width, height, plan.channels, view.row_stride_bytes, view.plane_stride_bytes});
    drawn.canvases.push_back(std::move(canvas));
  }
  return drawn;
}

std::vector<int32_t> paste_mask(const SamplePlan& plan) {
  std::vector<int32_t> mask;
  if (plan.mix.kind != MixKind::paste) return mask;
  mask.resize(static_cast<size_t>(plan.out_width_px) * static_cast<size_t>(plan.out_height_px));
  for (const PlanPaste& paste : plan.mix.pastes) {
    fill_polygon(paste.polygon, 1, plan.out_width_px, plan.out_height_px, mask.data());
  }
  return mask;
}

}  // namespace yoload
