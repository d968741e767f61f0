// The planner: (seed, epoch, position) -> every random number -> geometry, pixel plan and labels.
//
// Two steps, because geometry depends on picture sizes and a damaged picture is replaced by another
// record: draw_sample needs no data set; lay_out is called again, with the same draws, when a
// position resolved to a replacement.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "augment/plan_classify.h"
#include "augment/plan_map.h"
#include "core/dataset_index.h"
#include "core/labels.h"
#include "core/partner_window.h"
#include "core/plan.h"
#include "yoload/options.h"

namespace yoload {

/// What is the same for all samples of a batch. Pointers are borrowed.
struct PlanContext {
  const AugmentOptions* augment = nullptr;
  bool enabled = true;  ///< false: validation, letterbox only
  uint64_t seed = 0;
  int imgsz = 640;
  /// Size of the finished picture. With multi_scale on and a square size it is a resized imgsz
  /// picture; otherwise (rect batches) pictures are letterboxed into it.
  int out_height_px = 640, out_width_px = 640;
  Fidelity fidelity = Fidelity::exact;
  ResizeMode resize = ResizeMode::letterbox;
  int channels = 3;
  uint64_t images = 0;
  uint32_t window = 512;
  bool mosaic_allowed =
      true;  ///< false once close_mosaic has passed: no mosaic, no mixing, no pasting
  Task task = Task::detect;
  int mask_ratio = 4;
  bool overlap_mask = true;
};

/// One layer's draws: a picture or a mosaic, and its warp.
struct LayerDraws {
  std::vector<uint64_t> positions;    ///< 1, 4 or 9; the layer's main picture first
  double centre_x = 0, centre_y = 0;  ///< mosaic 2x2: centre as a fraction of imgsz, 0.5 .. 1.5
  PerspectiveDraws warp;
};

struct CutmixCandidate {
  double side = 0;      ///< fraction of the picture's side, sqrt(1 - Beta(1, 1))
  double x = 0, y = 0;  ///< centre, fraction of the picture
};

/// Every random number of a sample.
struct SampleDraws {
  uint32_t epoch = 0;
  uint64_t position = 0;
  LayerDraws own;
  MixKind mix = MixKind::none;
  LayerDraws partner;      ///< with mix
  double mixup_ratio = 1;  ///< Beta(32, 32)
  std::array<CutmixCandidate, 3> cutmix;
  double cutmix_pick = 0;
  std::vector<PlanFilter> filters;
  std::array<double, 3> hsv_gain = {0, 0, 0};  ///< g of SEMANTICS: u * gain
  bool flipud = false, fliplr = false, bgr = false;
  ClassifyDraws classify;  ///< task classify only
};

SampleDraws draw_sample(const PlanContext& context, uint32_t epoch, uint64_t position,
                        const PartnerWindow& window);

/// Positions whose pictures the sample shows, its own first, without repetition.
std::vector<uint64_t> positions(const SampleDraws& draws);

struct PlannedSample {
  SamplePlan plan;
  SampleLabels labels;
};

/// `records` is in step with positions(draws). Allocates; never throws on odd labels or sizes.
PlannedSample lay_out(const PlanContext& context, const SampleDraws& draws,
                      const DatasetIndex& index, std::span<const uint32_t> records);

/// Size of a picture on the canvas: r = imgsz / longest side, then min(ceil(side * r), imgsz).
void resized_size(int width_px, int height_px, int imgsz, ResizeMode mode, int* out_width_px,
                  int* out_height_px);

}  // namespace yoload
