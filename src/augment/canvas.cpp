// SPDX-License-Identifier: Apache-2.0
#include "augment/canvas.h"

#include "augment/mask.h"
#include "augment/pixel.h"

namespace yoload {
namespace {

Image draw_canvas(const SamplePlan& plan, const PlanLayer& layer,
                  std::span<const ImageView> tiles) {
  const int width = layer.canvas_width_px, height = layer.canvas_height_px;
  std::vector<int32_t> pasted(static_cast<size_t>(width) * static_cast<size_t>(height));
  for (const PlanPaste& paste : layer.pastes)
    fill_polygon(paste.polygon, 1, width, height, pasted.data());
  Image canvas(nullptr, width, height, plan.channels);
  const MutableImageView view = canvas.mutable_view();
  for (int channel = 0; channel < plan.channels; ++channel) {
    for (int y = 0; y < height; ++y) {
      const int32_t* mirrored = &pasted[static_cast<size_t>(y) * static_cast<size_t>(width)];
      for (int x = 0; x < width; ++x) {
        const int from = mirrored[x] != 0 ? width - 1 - x : x;
        const CanvasPosition at = {static_cast<int64_t>(from) << 32, static_cast<int64_t>(y) << 32};
        view.at(channel, y, x) = plan.fidelity == Fidelity::exact
                                     ? sample_exact(layer, tiles, channel, at)
                                     : sample_fused(plan, layer, tiles, channel, at);
      }
    }
  }
  return canvas;
}

}  // namespace

DrawnCanvases draw_canvases(const SamplePlan& plan, std::span<const ImageView> tiles) {
  DrawnCanvases drawn;
  drawn.plan = plan;
  drawn.plan.fidelity = Fidelity::exact;
  drawn.plan.sources.clear();
  for (PlanLayer& layer : drawn.plan.layers) {
    drawn.canvases.push_back(draw_canvas(plan, layer, tiles));
    const int width = layer.canvas_width_px, height = layer.canvas_height_px;
    layer.pastes.clear();
    layer.tiles = {{static_cast<int32_t>(drawn.plan.sources.size()), 0, 0, width, height, 0, 0}};
    drawn.plan.sources.push_back({0, 0, width, height});
  }
  for (const Image& canvas : drawn.canvases) drawn.tiles.push_back(canvas.view());
  return drawn;
}

}  // namespace yoload
