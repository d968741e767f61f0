// SPDX-License-Identifier: Apache-2.0
#include "core/plan.h"

#include <fmt/format.h>

#include <iterator>

namespace yoload {
namespace {

constexpr double kQ32 = 4294967296.0;

const char* name(FilterKind kind) {
  switch (kind) {
    case FilterKind::blur: return "blur";
    case FilterKind::median_blur: return "median_blur";
    case FilterKind::to_gray: return "to_gray";
    case FilterKind::clahe: return "clahe";
  }
  return "?";
}

std::string describe(const InverseMap& map) {
  switch (map.kind) {
    case MapKind::identity: return "identity";
    case MapKind::axis_aligned:
    case MapKind::affine:
      return fmt::format("{}: x = {:.6f} ox + {:.6f} oy + {:.3f}, y = {:.6f} ox + {:.6f} oy + {:.3f}",
                         map.kind == MapKind::affine ? "affine" : "axis-aligned",
                         static_cast<double>(map.xx) / kQ32, static_cast<double>(map.xy) / kQ32,
                         static_cast<double>(map.x0) / kQ32, static_cast<double>(map.yx) / kQ32,
                         static_cast<double>(map.yy) / kQ32, static_cast<double>(map.y0) / kQ32);
    case MapKind::perspective: return fmt::format("perspective: {:.8f}", fmt::join(map.h, " "));
  }
  return "?";
}

}  // namespace

std::string SamplePlan::to_string() const {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "plan version {}, seed {}, epoch {}, position {}\n", version, seed, epoch, position);
  fmt::format_to(out, "output {}x{}, {} channels, {}\n", out_width_px, out_height_px, channels,
                 fidelity == Fidelity::exact ? "exact" : "fused");
  for (size_t i = 0; i < sources.size(); ++i) {
    fmt::format_to(out, "source {}: position {}, record {}, {}x{}\n", i, sources[i].position, sources[i].record,
                   sources[i].width_px, sources[i].height_px);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const PlanLayer& layer = layers[i];
    fmt::format_to(out, "layer {}: canvas {}x{}, {}\n", i, layer.canvas_width_px, layer.canvas_height_px,
                   describe(layer.map));
    for (const PlanTile& tile : layer.tiles) {
      fmt::format_to(out, "  tile of source {}: [{}, {}) x [{}, {}), offset {}, {}\n", tile.source, tile.x0,
                     tile.x1, tile.y0, tile.y1, tile.offset_x, tile.offset_y);
    }
    if (!layer.pastes.empty()) fmt::format_to(out, "  {} pasted copies\n", layer.pastes.size());
  }
  if (mix.kind == MixKind::mixup) fmt::format_to(out, "mixup: first layer {:.5f}\n", mix.weight_q16 / 65536.0);
  if (mix.kind == MixKind::cutmix) {
    fmt::format_to(out, "cutmix: [{}, {}) x [{}, {}) from the second layer\n", mix.x0, mix.x1, mix.y0, mix.y1);
  }
  for (const PlanFilter& filter : filters) {
    fmt::format_to(out, "filter {}: size {}, clip {:.3f}\n", name(filter.kind), filter.size_px,
                   filter.clip_q8 / 256.0);
  }
  if (hsv.enabled) {
    fmt::format_to(out, "hsv: hue +{} of 180, saturation x {:.5f}, value x {:.5f}\n", hsv.hue_shift,
                   hsv.sat_gain_q15 / 32768.0, hsv.val_gain_q15 / 32768.0);
  }
  fmt::format_to(out, "flipud {}, fliplr {}, bgr {}\n", flipud, fliplr, bgr);
  return text;
}

}  // namespace yoload
