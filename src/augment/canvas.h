// Copy-paste needs a real canvas: the mirrored pixels lie elsewhere on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "augment/run.h"
#include "core/buffer.h"
#include "core/image.h"
#include "core/plan.h"

namespace yoload {

/// A plan without pastes that gives the same pixels, and the pictures that it reads.
struct DrawnCanvases {
  SamplePlan plan;
  std::vector<Buffer> canvases;
  std::vector<ImageView> tiles;
};

inline bool has_pastes(const SamplePlan& plan) {
  for (const PlanLayer& layer : plan.layers) {
    if (!layer.pastes.empty()) return true;
  }
  return false;
}

using RunFunction = void (*)(const SamplePlan&, std::span<const ImageView>, const RenderTarget&,
                             RenderScratch&);

/// Draws every layer's canvas with its pastes; the new plan has one tile, the canvas, a layer.
/// `run` is the calling executor: a canvas without its pastes is a sample with the identity map.
DrawnCanvases draw_canvases(const SamplePlan& plan, std::span<const ImageView> tiles,
                            RunFunction run, RenderScratch& scratch);

/// Which output pixels (before flips) show the second layer of a paste mix; empty for other mixes.
std::vector<int32_t> paste_mask(const SamplePlan& plan);

}  // namespace yoload
