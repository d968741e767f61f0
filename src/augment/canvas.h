// Copy-paste needs a real canvas: the mirrored pixels lie elsewhere on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "core/image.h"
#include "core/plan.h"

namespace yoload {

/// A plan without pastes that gives the same pixels, and the pictures that it reads.
struct DrawnCanvases {
  SamplePlan plan;
  std::vector<Image> canvases;
  std::vector<ImageView> tiles;
};

inline bool has_pastes(const SamplePlan& plan) {
  for (const PlanLayer& layer : plan.layers) {
    if (!layer.pastes.empty()) return true;
  }
  return false;
}

/// Draws every layer's canvas with its pastes; the new plan has one tile, the canvas, a layer. Rare
/// (only samples that draw a copy-paste) and shared by the executors, so it is plain code.
DrawnCanvases draw_canvases(const SamplePlan& plan, std::span<const ImageView> tiles);

}  // namespace yoload
