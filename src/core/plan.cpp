// SPDX-License-Identifier: Apache-2.0
#include "core/plan.h"

#include <fmt/format.h>

#include <iterator>

namespace yoload {
namespace {

const char* name(MapKind kind) {
  switch (kind) {
    case MapKind::identity:
      return "identity";
    case MapKind::axis_aligned:
      return "axis aligned";
    case MapKind::affine:
      return "affine";
    case MapKind::perspective:
      return "perspective";
  }
  return "?";
}

const char* name(FilterKind kind) {
  switch (kind) {
    case FilterKind::blur:
      return "blur";
    case FilterKind::median_blur:
      return "median blur";
    case FilterKind::to_gray:
      return "to gray";
    case FilterKind::clahe:
      return "CLAHE";
  }
  return "?";
}

double q32(int64_t value) {
  return static_cast<double>(value) * 0x1.0p-32;
}

}  // namespace

std::string SamplePlan::to_string() const {
  std::string text;
  const auto line = [&text]<class... Values>(fmt::format_string<const Values&...> format,
                                             const Values&... values) {
    fmt::format_to(std::back_inserter(text), format, values...);
    text.push_back('\n');
  };
  line("plan version {}", version);
  line("seed {} epoch {} position {}", seed, epoch, position);
  line("output {} x {} px, {} channels, {}", out_width_px, out_height_px, channels,
       fidelity == Fidelity::exact ? "exact" : "fused");
  for (size_t i = 0; i < sources.size(); ++i) {
    const PlanSource& s = sources[i];
    line("source {}: position {} record {} at {} x {} px", i, s.position, s.record, s.width_px,
         s.height_px);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const PlanLayer& layer = layers[i];
    line("layer {}: canvas {} x {} px, {} map", i, layer.canvas_width_px, layer.canvas_height_px,
         name(layer.map.kind));
    if (layer.map.kind == MapKind::perspective) {
      const auto& h = layer.map.h;
      line("  canvas u = {} ox + {} oy + {}; v = {} ox + {} oy + {}; w = {} ox + {} oy + {}", h[0],
           h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8]);
    } else {
      line("  canvas x = {} ox + {} oy + {}", q32(layer.map.xx), q32(layer.map.xy),
           q32(layer.map.x0));
      line("  canvas y = {} ox + {} oy + {}", q32(layer.map.yx), q32(layer.map.yy),
           q32(layer.map.y0));
    }
    for (const PlanTile& t : layer.tiles) {
      line("  tile of source {}: visible [{}, {}) x [{}, {}), own corner at ({}, {})", t.source,
           t.x0, t.x1, t.y0, t.y1, t.offset_x, t.offset_y);
    }
    for (const PlanPaste& paste : layer.pastes) {
      line("  pasted mirror image inside a polygon of {} points", paste.polygon.size() / 2);
    }
  }
  if (mix.kind == MixKind::mixup) line("mixup: first layer weighs {}", mix.weight_q16 / 65536.0);
  if (mix.kind == MixKind::cutmix) {
    line("cutmix: second layer in [{}, {}) x [{}, {})", mix.x0, mix.x1, mix.y0, mix.y1);
  }
  if (mix.kind == MixKind::paste) {
    line("paste: {} objects of the second layer", mix.pastes.size());
  }
  if (erase.x1 > erase.x0)
    line("erase: [{}, {}) x [{}, {})", erase.x0, erase.x1, erase.y0, erase.y1);
  for (const PlanFilter& filter : filters) {
    if (filter.kind == FilterKind::clahe) {
      line("filter {}: {} x {} tiles, clip {}", name(filter.kind), filter.size_px, filter.size_px,
           filter.clip_q8 / 256.0);
    } else if (filter.kind == FilterKind::to_gray) {
      line("filter {}", name(filter.kind));
    } else {
      line("filter {}: {} px", name(filter.kind), filter.size_px);
    }
  }
  if (hsv.enabled) {
    line("hsv: hue + {} (of 180), saturation x {}, value x {}", hsv.hue_shift,
         hsv.sat_gain_q15 / 32768.0, hsv.val_gain_q15 / 32768.0);
  }
  if (flipud) line("flipped top to bottom");
  if (fliplr) line("flipped left to right");
  if (bgr) line("channels in BGR order");
  return text;
}

}  // namespace yoload
