// The obvious executor: every output pixel on its own.
// SPDX-License-Identifier: Apache-2.0
#include "augment/bfloat16.h"
#include "augment/canvas.h"
#include "augment/filter.h"
#include "augment/float16.h"
#include "augment/pixel.h"
#include "augment/run.h"
#include "augment/scratch.h"

namespace yoload {
namespace {

uint8_t warped(const SamplePlan& plan, const PlanLayer& layer, std::span<const ImageView> tiles,
               int channel, int ox, int oy) {
  const CanvasPosition at = canvas_position(layer.map, ox, oy);
  return plan.fidelity == Fidelity::exact ? sample_exact(layer, tiles, channel, at)
                                          : sample_fused(plan, layer, tiles, channel, at);
}

/// Does the output pixel show the second layer? `pasted` is the mask of a paste mix.
bool shows_second(const PlanMix& mix, const std::vector<int32_t>& pasted, int width, int ox,
                  int oy) {
  if (mix.kind == MixKind::cutmix)
    return ox >= mix.x0 && ox < mix.x1 && oy >= mix.y0 && oy < mix.y1;
  return mix.kind == MixKind::paste &&
         pasted[static_cast<size_t>(oy) * static_cast<size_t>(width) + static_cast<size_t>(ox)] !=
             0;
}

uint8_t mixed_layers(const SamplePlan& plan, std::span<const ImageView> tiles,
                     const std::vector<int32_t>& pasted, int channel, int ox, int oy) {
  const PlanMix& mix = plan.mix;
  if (mix.kind == MixKind::mixup) {
    return mixed(warped(plan, plan.layers[0], tiles, channel, ox, oy),
                 warped(plan, plan.layers[1], tiles, channel, ox, oy), mix.weight_q16);
  }
  const bool second = shows_second(mix, pasted, plan.out_width_px, ox, oy);
  return warped(plan, plan.layers[second ? 1 : 0], tiles, channel, ox, oy);
}

void store(const RenderTarget& target, int channel, int x, int y, uint8_t level) {
  const size_t at = (static_cast<size_t>(channel) * static_cast<size_t>(target.height_px) +
                     static_cast<size_t>(y)) *
                        static_cast<size_t>(target.width_px) +
                    static_cast<size_t>(x);
  const auto scale = static_cast<size_t>(std::min(channel, 2));
  const float scaled = static_cast<float>(level) * target.mul[scale] + target.add[scale];
  switch (target.dtype) {
    case DType::uint8:
      static_cast<uint8_t*>(target.data)[at] = level;
      break;
    case DType::float16:
      static_cast<uint16_t*>(target.data)[at] = to_float16(scaled);
      break;
    case DType::bfloat16:
      static_cast<uint16_t*>(target.data)[at] = to_bfloat16(scaled);
      break;
    case DType::float32:
      static_cast<float*>(target.data)[at] = scaled;
      break;
  }
}

}  // namespace

void run_ref(const SamplePlan& plan, std::span<const ImageView> tiles, const RenderTarget& target,
             RenderScratch& scratch) {
  if (has_pastes(plan)) {
    const DrawnCanvases drawn = draw_canvases(plan, tiles, run_ref, scratch);
    return run_ref(drawn.plan, drawn.tiles, target, scratch);
  }
  const int width = plan.out_width_px, height = plan.out_height_px;
  const std::vector<int32_t> pasted = paste_mask(plan);
  const MutableImageView sample = scratch.buffers().sample(width, height, target.channels);
  for (int channel = 0; channel < target.channels; ++channel) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x)
        sample.at(channel, y, x) = mixed_layers(plan, tiles, pasted, channel, x, y);
    }
  }
  apply_filters(plan.filters, sample, scratch);
  for (int y = 0; y < height; ++y) {
    const int to_y = plan.flipud ? height - 1 - y : y;
    for (int x = 0; x < width; ++x) {
      const int to_x = plan.fliplr ? width - 1 - x : x;
      if (plan.hsv.enabled && target.channels == 3) {
        const auto rgb =
            hsv_pixel(sample.at(0, y, x), sample.at(1, y, x), sample.at(2, y, x), plan.hsv);
        for (int channel = 0; channel < 3; ++channel) {
          sample.at(channel, y, x) = rgb[static_cast<size_t>(channel)];
        }
      }
      for (int channel = 0; channel < target.channels; ++channel) {
        const int to_channel = plan.bgr && target.channels == 3 ? 2 - channel : channel;
        const bool erased = to_x >= plan.erase.x0 && to_x < plan.erase.x1 &&
                            to_y >= plan.erase.y0 && to_y < plan.erase.y1;
        store(target, to_channel, to_x, to_y, erased ? uint8_t{0} : sample.at(channel, y, x));
      }
    }
  }
}

}  // namespace yoload
