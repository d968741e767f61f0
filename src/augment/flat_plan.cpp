// SPDX-License-Identifier: Apache-2.0
#include "augment/flat_plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "augment/canvas.h"
#include "augment/mask.h"
#include "augment/pixel.h"
#include "core/render_target.h"

namespace yoload {
namespace {

constexpr size_t kScratchAlignment = 256;

size_t picture_bytes(int width_px, int height_px, int channels) {
  const size_t bytes = static_cast<size_t>(width_px) * static_cast<size_t>(height_px) *
                       static_cast<size_t>(channels);
  // A pixel right of the last one may be read.
  return (bytes + 1 + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

size_t clahe_bytes(const PlanFilter& filter, int channels) {
  if (filter.kind != FilterKind::clahe) return 0;
  const auto side = static_cast<size_t>(filter.size_px);
  return (side * side * static_cast<size_t>(channels == 3 ? 1 : channels) * 256 +
          kScratchAlignment - 1) /
         kScratchAlignment * kScratchAlignment;
}

ImageView view_of(const uint8_t* pixels, int width_px, int height_px, int channels) {
  const auto row = static_cast<size_t>(width_px);
  return {pixels, width_px, height_px, channels, row, row * static_cast<size_t>(height_px)};
}

FlatKind kind_of(const SamplePlan& plan, int channels) {
  const MapKind map = plan.layers[0].map.kind;
  if (plan.mix.kind != MixKind::none || channels != 3 || map == MapKind::perspective) {
    return FlatKind::any;
  }
  const bool fused = plan.fidelity == Fidelity::fused;
  if (map == MapKind::affine) return fused ? FlatKind::fused_affine : FlatKind::exact_affine;
  return fused ? FlatKind::fused_axis : FlatKind::exact_axis;
}

/// Shows the picture tiles[0] as it is.
void show_whole(SamplePlan* plan, int width_px, int height_px) {
  plan->fidelity = Fidelity::exact;
  plan->sources = {{0, 0, width_px, height_px}};
  plan->layers = {{width_px, height_px, {{0, 0, 0, width_px, height_px, 0, 0}}, {}, {}}};
  plan->mix = {};
  plan->filters.clear();
}

}  // namespace

void FlatBatch::begin(const FlatOutput& output, uint8_t* scratch, size_t bytes) {
  output_ = output;
  scratch_ = scratch, scratch_size_ = bytes, scratch_used_ = 0;
  round_ = 0;
  pending_.clear(), ordered_.clear(), tiles_.clear(), masks_.clear(), pastes_.clear();
  paste_rounds_.clear(), filters_.clear(), filter_rounds_.clear(), steps_.clear();
}

size_t FlatBatch::scratch_bytes(const SamplePlan& plan, int channels) {
  size_t bytes = 0;
  if (has_pastes(plan)) {
    for (const PlanLayer& layer : plan.layers) {
      bytes += picture_bytes(layer.canvas_width_px, layer.canvas_height_px, channels);
    }
  }
  if (!plan.filters.empty()) {
    bytes += 2 * picture_bytes(plan.out_width_px, plan.out_height_px, channels);
    for (const PlanFilter& filter : plan.filters) bytes += clahe_bytes(filter, channels);
  }
  return bytes;
}

void FlatBatch::add(const SamplePlan& plan, std::span<const ImageView> tiles, int channels,
                    void* out) {
  const size_t wanted = scratch_bytes(plan, channels);
  if (wanted == 0) {
    add_pending(flat_sample(plan, tiles, channels, out), plan, final);
    return;
  }
  if (scratch_used_ + wanted > scratch_size_) ++round_, scratch_used_ = 0;
  SamplePlan rest = plan;
  std::vector<ImageView> pictures(tiles.begin(), tiles.end());
  if (has_pastes(plan)) draw_canvases(&rest, &pictures, channels);
  if (!plan.filters.empty()) draw_filtered(&rest, &pictures, channels);
  add_pending(flat_sample(rest, pictures, channels, out), rest, final);
}

void FlatBatch::finish() {
  // Rounds one after the other, stages within a round, kernels within a stage.
  const auto place = [](const Pending& p) {
    return (p.round * int{kStages} + p.stage) * kFlatKinds + static_cast<int>(p.kind);
  };
  std::stable_sort(pending_.begin(), pending_.end(),
                   [&](const Pending& a, const Pending& b) { return place(a) < place(b); });
  size_t next = 0, paste = 0, filter = 0;
  const auto render = [&](int round, Stage stage) {
    while (next < pending_.size() && pending_[next].round == round &&
           pending_[next].stage == stage) {
      FlatStep step;
      step.render = pending_[next].kind;
      step.into_scratch = stage != final;
      step.first = static_cast<int32_t>(next);
      const int group = place(pending_[next]);
      for (; next < pending_.size() && place(pending_[next]) == group; ++next, ++step.count) {
        const FlatSample& sample = pending_[next].sample;
        step.width_px = std::max(step.width_px, sample.width_px);
        step.height_px = std::max(step.height_px, sample.height_px);
        ordered_.push_back(sample);
      }
      steps_.push_back(step);
    }
  };
  const auto alone = [&](FlatStep::Kind kind, const std::vector<int>& rounds, int round,
                         size_t* at) {
    for (; *at < rounds.size() && rounds[*at] == round; ++*at) {
      FlatStep step;
      step.kind = kind, step.first = static_cast<int32_t>(*at), step.count = 1;
      steps_.push_back(step);
    }
  };
  for (int round = 0; round <= round_; ++round) {
    render(round, canvas);
    alone(FlatStep::Kind::paste, paste_rounds_, round, &paste);
    render(round, input);
    alone(FlatStep::Kind::filter, filter_rounds_, round, &filter);
    render(round, final);
  }
}

uint8_t* FlatBatch::take_scratch(size_t bytes) {
  uint8_t* const at = scratch_ + scratch_used_;
  scratch_used_ += bytes;
  return at;
}

FlatLayer FlatBatch::flat_layer(const SamplePlan& plan, const PlanLayer& layer,
                                std::span<const ImageView> tiles) {
  if (layer.tiles.size() > kMaxFlatTiles) {
    throw std::invalid_argument("a layer of " + std::to_string(layer.tiles.size()) +
                                " tiles: expected at most " + std::to_string(kMaxFlatTiles));
  }
  FlatLayer flat;
  const InverseMap& map = layer.map;
  flat.xx = map.xx, flat.xy = map.xy, flat.x0 = map.x0;
  flat.yx = map.yx, flat.yy = map.yy, flat.y0 = map.y0;
  std::copy(map.h.begin(), map.h.end(), flat.h);
  flat.perspective = map.kind == MapKind::perspective;
  flat.first_tile = static_cast<int32_t>(tiles_.size());
  flat.tiles = static_cast<int32_t>(layer.tiles.size());
  for (const PlanTile& tile : layer.tiles) {
    const auto source = static_cast<size_t>(tile.source);
    const ImageView& view = tiles[source];
    FlatTile to;
    to.plane_bytes = static_cast<int64_t>(view.plane_stride_bytes);
    to.row_bytes = static_cast<int32_t>(view.row_stride_bytes);
    to.x0 = tile.x0, to.y0 = tile.y0, to.x1 = tile.x1, to.y1 = tile.y1;
    to.offset_x = tile.offset_x, to.offset_y = tile.offset_y;
    to.width_px = view.width_px, to.height_px = view.height_px;
    if (plan.fidelity == Fidelity::fused) {
      to.base = view.data;
      to.step_x = fused_step(view.width_px, plan.sources[source].width_px);
      to.step_y = fused_step(view.height_px, plan.sources[source].height_px);
    } else {
      // As a number: the pointer may leave its picture.
      to.base = reinterpret_cast<const uint8_t*>(
          reinterpret_cast<intptr_t>(view.data) -
          (intptr_t{tile.offset_y} * to.row_bytes + tile.offset_x));
    }
    tiles_.push_back(to);
  }
  return flat;
}

FlatSample FlatBatch::flat_sample(const SamplePlan& plan, std::span<const ImageView> tiles,
                                  int channels, void* out) {
  FlatSample sample;
  sample.layers[0] = flat_layer(plan, plan.layers[0], tiles);
  if (plan.mix.kind != MixKind::none) sample.layers[1] = flat_layer(plan, plan.layers[1], tiles);
  sample.out = static_cast<uint8_t*>(out);
  sample.width_px = plan.out_width_px, sample.height_px = plan.out_height_px;
  sample.channels = channels;
  sample.fused = plan.fidelity == Fidelity::fused;
  sample.flipud = plan.flipud, sample.fliplr = plan.fliplr;
  sample.bgr = plan.bgr && channels == 3;
  sample.mix = plan.mix.kind;
  sample.mixup_weight = plan.mix.weight_q16;
  sample.cutmix = {plan.mix.x0, plan.mix.y0, plan.mix.x1, plan.mix.y1};
  if (plan.mix.kind == MixKind::paste) {
    sample.paste_mask_word = add_mask(plan.mix.pastes, plan.out_width_px, plan.out_height_px);
  }
  sample.hsv = plan.hsv.enabled && channels == 3;
  sample.hue_shift = static_cast<float>(plan.hsv.hue_shift);
  sample.sat_gain = static_cast<float>(plan.hsv.sat_gain_q15) * 0x1p-15f;
  sample.val_gain = static_cast<float>(plan.hsv.val_gain_q15) * 0x1p-15f;
  if (sample.hsv) sample.pad_level = hsv_pixel(kPadValue, kPadValue, kPadValue, plan.hsv)[0];
  sample.erase = plan.erase;
  sample.erases = plan.erase.x1 > plan.erase.x0 && plan.erase.y1 > plan.erase.y0;
  return sample;
}

void FlatBatch::add_pending(FlatSample sample, const SamplePlan& plan, Stage stage) {
  const size_t pair_bytes = 2 * (stage == final ? bytes_of(output_.dtype) : 1);
  sample.paired =
      sample.width_px % 2 == 0 && reinterpret_cast<uintptr_t>(sample.out) % pair_bytes == 0;
  pending_.push_back({sample, kind_of(plan, sample.channels), stage, round_});
}

int64_t FlatBatch::add_mask(const std::vector<PlanPaste>& pastes, int width_px, int height_px) {
  const auto width = static_cast<size_t>(width_px), height = static_cast<size_t>(height_px);
  mask_cells_.assign(width * height, 0);
  for (const PlanPaste& paste : pastes) {
    fill_polygon(paste.polygon, 1, width_px, height_px, mask_cells_.data());
  }
  const size_t first = masks_.size(), row_words = (width + 31) / 32;
  masks_.resize(first + row_words * height, 0);
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      if (mask_cells_[y * width + x] != 0) {
        masks_[first + y * row_words + x / 32] |= 1u << (x % 32);
      }
    }
  }
  return static_cast<int64_t>(first);
}

/// As draw_canvases of canvas.h, but only plans it.
void FlatBatch::draw_canvases(SamplePlan* plan, std::vector<ImageView>* tiles, int channels) {
  SamplePlan drawn = *plan;
  drawn.fidelity = Fidelity::exact;
  drawn.sources.clear();
  std::vector<ImageView> canvases;
  for (PlanLayer& layer : drawn.layers) {
    const int width = layer.canvas_width_px, height = layer.canvas_height_px;
    SamplePlan flat;
    flat.out_width_px = width, flat.out_height_px = height;
    flat.fidelity = plan->fidelity;
    flat.sources = plan->sources;
    flat.layers = {{width, height, layer.tiles, {}, {}}};
    uint8_t* pixels = take_scratch(picture_bytes(width, height, channels));
    add_pending(flat_sample(flat, *tiles, channels, pixels), flat, canvas);
    if (!layer.pastes.empty()) {
      pastes_.push_back({pixels, width, height, channels, add_mask(layer.pastes, width, height)});
      paste_rounds_.push_back(round_);
      layer.pastes.clear();
    }
    layer.tiles = {{static_cast<int32_t>(canvases.size()), 0, 0, width, height, 0, 0}};
    drawn.sources.push_back({0, 0, width, height});
    canvases.push_back(view_of(pixels, width, height, channels));
  }
  *plan = std::move(drawn);
  *tiles = std::move(canvases);
}

void FlatBatch::draw_filtered(SamplePlan* plan, std::vector<ImageView>* tiles, int channels) {
  const int width = plan->out_width_px, height = plan->out_height_px;
  SamplePlan before = *plan;
  before.filters.clear();
  before.hsv = {};
  before.flipud = before.fliplr = before.bgr = false;
  before.erase = {};
  uint8_t* pixels = take_scratch(picture_bytes(width, height, channels));
  uint8_t* other = take_scratch(picture_bytes(width, height, channels));
  add_pending(flat_sample(before, *tiles, channels, pixels), before, input);
  for (const PlanFilter& filter : plan->filters) {
    if (filter.kind == FilterKind::to_gray && channels != 3) continue;
    filters_.push_back({filter, pixels, other, nullptr, width, height, channels});
    filter_rounds_.push_back(round_);
    if (filter.kind == FilterKind::clahe) {
      filters_.back().tables = take_scratch(clahe_bytes(filter, channels));
    } else if (filter.kind != FilterKind::to_gray) {
      std::swap(pixels, other);
    }
  }
  *tiles = {view_of(pixels, width, height, channels)};
  show_whole(plan, width, height);
}

}  // namespace yoload
