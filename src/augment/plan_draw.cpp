// Draws of the planner: which streams are read, in which order.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "augment/plan.h"
#include "core/philox.h"

namespace yoload {
namespace {

/// Beta(32, 32): the 32nd smallest of 63 uniform numbers has exactly this distribution, so neither
/// a logarithm nor a rejection loop is needed.
double draw_beta_32_32(Draws* draws) {
  std::array<double, 63> values;
  for (double& value : values) value = draws->uniform();
  std::nth_element(values.begin(), values.begin() + 31, values.end());
  return values[31];
}

PerspectiveDraws draw_warp(const AugmentOptions& augment, Draws draws) {
  const auto around = [&](double centre, double reach) {
    return draws.uniform(centre - reach, centre + reach);
  };
  PerspectiveDraws warp;  // all eight are drawn, in this order, whatever the options say
  warp.p20 = around(0, augment.perspective);
  warp.p21 = around(0, augment.perspective);
  warp.degrees = around(0, augment.degrees);
  warp.scale = around(1, augment.scale);
  warp.shear_x_degrees = around(0, augment.shear);
  warp.shear_y_degrees = around(0, augment.shear);
  warp.shift_x = around(0.5, augment.translate);
  warp.shift_y = around(0.5, augment.translate);
  return warp;
}

LayerDraws draw_layer(const PlanContext& context, uint64_t position, const PartnerWindow& window,
                      bool mosaic_possible, Draws mosaic, Draws warp) {
  LayerDraws layer;
  layer.positions.push_back(position);
  const bool use_mosaic = mosaic.uniform() < context.augment->mosaic && mosaic_possible;
  layer.centre_y = mosaic.uniform(0.5, 1.5);
  layer.centre_x = mosaic.uniform(0.5, 1.5);
  if (use_mosaic) {
    const int partners = context.augment->mosaic_tiles == 9 ? 8 : 3;
    for (int i = 0; i < partners; ++i)
      layer.positions.push_back(window.at(mosaic.below(window.count)));
  }
  layer.warp = draw_warp(*context.augment, warp);
  return layer;
}

/// The four pixel filters that the reference takes from albumentations, in its order. Parameters
/// are drawn whether or not a filter fires.
std::vector<PlanFilter> draw_filters(const PlanContext& context, Draws draws) {
  const AugmentOptions& augment = *context.augment;
  std::vector<PlanFilter> filters;
  const auto odd_size = [&] { return static_cast<int32_t>(3 + 2 * draws.below(3)); };
  const bool blur = draws.uniform() < augment.blur;
  const int32_t blur_size = odd_size();
  const bool median = draws.uniform() < augment.median_blur;
  const int32_t median_size = odd_size();
  const bool gray = draws.uniform() < augment.to_gray;
  const bool clahe = draws.uniform() < augment.clahe;
  const double clip = draws.uniform(1, 4);
  if (blur) filters.push_back({FilterKind::blur, blur_size, 0});
  if (median) filters.push_back({FilterKind::median_blur, median_size, 0});
  if (gray && context.channels == 3) filters.push_back({FilterKind::to_gray, 0, 0});
  if (clahe) filters.push_back({FilterKind::clahe, 8, static_cast<uint32_t>(clip * 256)});
  return filters;
}

/// Copy-paste in mode mixup, which a set without outlines cannot do.
bool pastes_from_partner(const PlanContext& context) {
  const AugmentOptions& augment = *context.augment;
  return augment.copy_paste > 0 && augment.copy_paste_mode == CopyPasteMode::mixup &&
         context.task == Task::segment;
}

}  // namespace

SampleDraws draw_sample(const PlanContext& context, uint32_t epoch, uint64_t position,
                        const PartnerWindow& window) {
  SampleDraws sample;
  sample.epoch = epoch;
  sample.position = position;
  sample.own.positions.push_back(position);
  if (!context.enabled) return sample;
  const AugmentOptions& augment = *context.augment;
  const auto stream = [&](DrawStream name) { return Draws(context.seed, epoch, position, name); };

  // A rect batch has pictures of one shape each; the reference switches mosaic and mixing off
  // there.
  const bool mixing = context.mosaic_allowed && context.task != Task::classify &&
                      context.out_height_px == context.out_width_px && window.count > 0;
  sample.own = draw_layer(context, position, window, mixing, stream(DrawStream::mosaic),
                          stream(DrawStream::perspective));

  Draws mixup = stream(DrawStream::mixup), cutmix = stream(DrawStream::cutmix);
  const bool use_mixup = mixup.uniform() < augment.mixup && mixing;
  // A sample has two layers at most: where both gates pass, mixup wins.
  const bool use_cutmix = cutmix.uniform() < augment.cutmix && mixing && !use_mixup;
  if (use_mixup) {
    sample.mix = MixKind::mixup;
    const uint64_t partner = window.at(mixup.below(window.count));
    sample.mixup_ratio = draw_beta_32_32(&mixup);
    sample.partner =
        draw_layer(context, partner, window, mixing, stream(DrawStream::mix_partner_mosaic),
                   stream(DrawStream::mix_partner_perspective));
  } else if (use_cutmix) {
    sample.mix = MixKind::cutmix;
    const uint64_t partner = window.at(cutmix.below(window.count));
    for (CutmixCandidate& candidate : sample.cutmix) {
      candidate.side = std::sqrt(1 - cutmix.uniform());
      candidate.x = cutmix.uniform();
      candidate.y = cutmix.uniform();
    }
    sample.cutmix_pick = cutmix.uniform();
    sample.partner =
        draw_layer(context, partner, window, mixing, stream(DrawStream::cutmix_partner_mosaic),
                   stream(DrawStream::cutmix_partner_perspective));
  } else if (pastes_from_partner(context) && mixing) {
    sample.mix = MixKind::paste;
    Draws paste = stream(DrawStream::copy_paste);
    const uint64_t partner = window.at(paste.below(window.count));
    sample.partner =
        draw_layer(context, partner, window, mixing, stream(DrawStream::paste_partner_mosaic),
                   stream(DrawStream::paste_partner_perspective));
  }

  if (context.task == Task::classify) {
    sample.classify = draw_classify(augment, stream(DrawStream::classify));
  }
  sample.filters = draw_filters(context, stream(DrawStream::blur));
  Draws hsv = stream(DrawStream::hsv);
  const std::array<float, 3> gains = {augment.hsv_h, augment.hsv_s, augment.hsv_v};
  for (size_t i = 0; i < 3; ++i) sample.hsv_gain[i] = hsv.uniform(-1, 1) * gains[i];
  Draws flip = stream(DrawStream::flip);
  sample.flipud = flip.uniform() < augment.flipud;
  sample.fliplr = flip.uniform() < augment.fliplr;
  sample.bgr = stream(DrawStream::bgr).uniform() < augment.bgr && context.channels == 3;
  return sample;
}

std::vector<uint64_t> positions(const SampleDraws& draws) {
  std::vector<uint64_t> all;
  const auto add = [&](const LayerDraws& layer) {
    for (const uint64_t position : layer.positions) {
      if (std::find(all.begin(), all.end(), position) == all.end()) all.push_back(position);
    }
  };
  add(draws.own);
  add(draws.partner);
  return all;
}

}  // namespace yoload
