// The planner: (seed, epoch, position) -> every random number, and from these and the pictures' sizes the
// integer plan and the labels of one sample.
//
// Two steps, because geometry depends on which picture a position resolved to (an unreadable one is
// replaced): draw_sample() needs nothing but numbers, lay_out() needs the records. Both are pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dataset_index.h"
#include "core/labels.h"
#include "core/partner_window.h"
#include "core/plan.h"
#include "yoload/options.h"

namespace yoload {

/// What planning rests on besides position and records.
struct PlanContext {
  const AugmentOptions* augment = nullptr;
  bool enabled = true;            ///< false: validation, letterbox without upscaling
  uint64_t seed = 0;
  int imgsz = 640;
  int out_height_px = 640;        ///< rect batches and multi-scale: may differ from imgsz
  int out_width_px = 640;
  Fidelity fidelity = Fidelity::exact;
  ResizeMode resize = ResizeMode::letterbox;
  int channels = 3;
  uint64_t images = 0;
  uint32_t window = 512;
  bool mosaic_allowed = true;     ///< false in the last close_mosaic epochs: no mosaic, no mixing
  Task task = Task::detect;
};

/// The eight draws of a random perspective, uniform in [0, 1), in the order of SEMANTICS section 5.
struct WarpDraws {
  double p20 = 0.5, p21 = 0.5, angle = 0.5, scale = 0.5, s01 = 0.5, s10 = 0.5, tx = 0.5, ty = 0.5;
};

/// One canvas: the sample's own, or that of its mixing partner.
struct LayerDraws {
  std::vector<uint64_t> positions;  ///< 1, 4 or 9; the layer's own picture first
  double center_y = 0.5, center_x = 0.5;  ///< mosaic centre, uniform
  WarpDraws warp;
};

/// Every random number of one sample.
struct SampleDraws {
  uint32_t epoch = 0;
  uint64_t position = 0;
  LayerDraws own;
  MixKind mix = MixKind::none;
  LayerDraws partner;               ///< with mix
  double mixup_ratio = 0.5;         ///< Beta(32, 32)
  std::array<std::array<double, 3>, 3> cutmix{};  ///< three candidates: lambda, centre x, centre y
  double cutmix_choice = 0;
  std::array<double, 3> hsv{};      ///< uniform in [-1, 1)
  bool flipud = false, fliplr = false, bgr = false;
  std::vector<PlanFilter> filters;
};

SampleDraws draw_sample(const PlanContext& context, uint32_t epoch, uint64_t position,
                        const PartnerWindow& window);

/// The positions whose pictures the sample needs: its own first, each once.
std::vector<uint64_t> positions(const SampleDraws& draws);

struct PlannedSample {
  SamplePlan plan;
  SampleLabels labels;
};

/// `records` are in step with positions(draws).
PlannedSample lay_out(const PlanContext& context, const SampleDraws& draws, const DatasetIndex& index,
                      std::span<const uint32_t> records);

/// Size of a picture after loading (SEMANTICS 2): longest side to imgsz, the other one rounded up.
void resized_size(int width_px, int height_px, int imgsz, ResizeMode mode, int* resized_width_px,
                  int* resized_height_px);

}  // namespace yoload
