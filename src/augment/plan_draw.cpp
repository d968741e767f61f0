// Step one of the planner: all random numbers, from named streams.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "augment/plan.h"
#include "core/philox.h"

namespace yoload {
namespace {

/// Beta(32, 32) is the distribution of the 32nd smallest of 63 uniform numbers: no logarithm needed.
double beta_32_32(Draws* draws) {
  std::array<double, 63> sample{};
  for (double& value : sample) value = draws->uniform();
  std::nth_element(sample.begin(), sample.begin() + 31, sample.end());
  return sample[31];
}

LayerDraws draw_layer(const PlanContext& context, uint32_t epoch, uint64_t position, uint64_t own,
                      const PartnerWindow& window, DrawStream mosaic_stream, DrawStream warp_stream) {
  const AugmentOptions& augment = *context.augment;
  LayerDraws layer;
  layer.positions = {own};
  Draws mosaic(context.seed, epoch, position, mosaic_stream);
  const bool tiled = mosaic.uniform() < augment.mosaic && context.mosaic_allowed;
  layer.center_y = mosaic.uniform();
  layer.center_x = mosaic.uniform();
  if (tiled) {
    for (int i = 1; i < augment.mosaic_tiles; ++i) {
      layer.positions.push_back(window.at(mosaic.below(window.count)));
    }
  }
  Draws warp(context.seed, epoch, position, warp_stream);
  WarpDraws& w = layer.warp;
  for (double* value : {&w.p20, &w.p21, &w.angle, &w.scale, &w.s01, &w.s10, &w.tx, &w.ty}) {
    *value = warp.uniform();
  }
  return layer;
}

std::vector<PlanFilter> draw_filters(const PlanContext& context, uint32_t epoch, uint64_t position) {
  const AugmentOptions& augment = *context.augment;
  Draws draws(context.seed, epoch, position, DrawStream::blur);
  std::vector<PlanFilter> filters;
  // Four draws a filter whether it applies or not, so that a probability shifts no other draw.
  const auto gate = [&](float probability, FilterKind kind) {
    const bool applies = draws.uniform() < probability;
    const double size = draws.uniform();
    if (!applies) return;
    PlanFilter filter;
    filter.kind = kind;
    if (kind == FilterKind::clahe) {
      filter.size_px = 8;
      filter.clip_q8 = static_cast<uint32_t>(256 * (1 + 3 * size));  // clip limit U(1, 4)
    } else {
      filter.size_px = 3 + 2 * static_cast<int>(size * 3);           // 3, 5 or 7
    }
    filters.push_back(filter);
  };
  gate(augment.blur, FilterKind::blur);
  gate(augment.median_blur, FilterKind::median_blur);
  gate(augment.to_gray, FilterKind::to_gray);
  gate(augment.clahe, FilterKind::clahe);
  return filters;
}

}  // namespace

SampleDraws draw_sample(const PlanContext& context, uint32_t epoch, uint64_t position,
                        const PartnerWindow& window) {
  SampleDraws draws;
  draws.epoch = epoch;
  draws.position = position;
  draws.own.positions = {position};
  if (!context.enabled) return draws;
  const AugmentOptions& augment = *context.augment;
  draws.own = draw_layer(context, epoch, position, position, window, DrawStream::mosaic,
                         DrawStream::perspective);

  // MixUp stands before CutMix in the reference and both may apply there; here the first one wins, so
  // that a sample has two layers at most.
  Draws mixup(context.seed, epoch, position, DrawStream::mixup);
  Draws cutmix(context.seed, epoch, position, DrawStream::cutmix);
  const bool mixes = mixup.uniform() < augment.mixup && context.mosaic_allowed;
  const bool cuts = cutmix.uniform() < augment.cutmix && context.mosaic_allowed;
  if (mixes) {
    draws.mix = MixKind::mixup;
    const uint64_t other = window.at(mixup.below(window.count));
    draws.mixup_ratio = beta_32_32(&mixup);
    draws.partner = draw_layer(context, epoch, position, other, window, DrawStream::mix_partner_mosaic,
                               DrawStream::mix_partner_perspective);
  } else if (cuts) {
    draws.mix = MixKind::cutmix;
    const uint64_t other = window.at(cutmix.below(window.count));
    for (auto& candidate : draws.cutmix) {
      for (double& value : candidate) value = cutmix.uniform();
    }
    draws.cutmix_choice = cutmix.uniform();
    draws.partner = draw_layer(context, epoch, position, other, window, DrawStream::cutmix_partner_mosaic,
                               DrawStream::cutmix_partner_perspective);
  }

  draws.filters = draw_filters(context, epoch, position);
  Draws hsv(context.seed, epoch, position, DrawStream::hsv);
  for (double& value : draws.hsv) value = hsv.uniform(-1, 1);
  Draws flip(context.seed, epoch, position, DrawStream::flip);
  draws.flipud = flip.uniform() < augment.flipud;
  draws.fliplr = flip.uniform() < augment.fliplr;
  draws.bgr = Draws(context.seed, epoch, position, DrawStream::bgr).uniform() < augment.bgr;
  return draws;
}

std::vector<uint64_t> positions(const SampleDraws& draws) {
  std::vector<uint64_t> all;
  const auto add = [&](uint64_t position) {
    if (std::find(all.begin(), all.end(), position) == all.end()) all.push_back(position);
  };
  for (const uint64_t position : draws.own.positions) add(position);
  for (const uint64_t position : draws.partner.positions) add(position);
  return all;
}

}  // namespace yoload
