// SPDX-License-Identifier: Apache-2.0
#include "augment/draws_json.h"

namespace yoload {
namespace {

const char* name(MixKind kind) {
  switch (kind) {
    case MixKind::none:
      return "none";
    case MixKind::mixup:
      return "mixup";
    case MixKind::cutmix:
      return "cutmix";
    case MixKind::paste:
      return "paste";
  }
  return "?";
}

const char* name(FilterKind kind) {
  switch (kind) {
    case FilterKind::blur:
      return "blur";
    case FilterKind::median_blur:
      return "median_blur";
    case FilterKind::to_gray:
      return "to_gray";
    case FilterKind::clahe:
      return "clahe";
  }
  return "?";
}

void write_layer(const LayerDraws& layer, JsonWriter* json) {
  json->begin_object().key("positions").begin_array();
  for (const uint64_t position : layer.positions) json->value(position);
  json->end_array().field("centre_x", layer.centre_x).field("centre_y", layer.centre_y);
  const PerspectiveDraws& warp = layer.warp;
  json->field("p20", warp.p20).field("p21", warp.p21).field("degrees", warp.degrees);
  json->field("scale", warp.scale).field("shear_x_degrees", warp.shear_x_degrees);
  json->field("shear_y_degrees", warp.shear_y_degrees).field("shift_x", warp.shift_x);
  json->field("shift_y", warp.shift_y).end_object();
}

}  // namespace

void write_draws(const SampleDraws& draws, JsonWriter* json) {
  json->begin_object().field("epoch", draws.epoch).field("position", draws.position);
  json->key("own");
  write_layer(draws.own, json);
  json->field("mix", name(draws.mix)).key("partner");
  write_layer(draws.partner, json);
  json->field("mixup_ratio", draws.mixup_ratio).key("cutmix").begin_array();
  for (const CutmixCandidate& candidate : draws.cutmix) {
    json->begin_object().field("side", candidate.side).field("x", candidate.x);
    json->field("y", candidate.y).end_object();
  }
  json->end_array().field("cutmix_pick", draws.cutmix_pick).key("filters").begin_array();
  for (const PlanFilter& filter : draws.filters) {
    json->begin_object().field("kind", name(filter.kind)).field("size_px", filter.size_px);
    json->field("clip", filter.clip_q8 / 256.0).end_object();
  }
  json->end_array().key("hsv_gain").begin_array();
  for (const double gain : draws.hsv_gain) json->value(gain);
  json->end_array().field("flipud", draws.flipud).field("fliplr", draws.fliplr);
  json->field("bgr", draws.bgr).end_object();
}

}  // namespace yoload
