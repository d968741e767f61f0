// Geometry and labels of a sample, from its draws and the sizes of its pictures.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "augment/exact_math.h"
#include "augment/labels.h"
#include "augment/mask.h"
#include "augment/plan.h"
#include "augment/plan_paste.h"
#include "augment/plan_tiles.h"

namespace yoload {
namespace {

struct Size {
  int width_px, height_px;
};

/// Size that the warp aims at; multi-scale resizes it to the output size.
Size base_size(const PlanContext& context) {
  const bool scaled = context.enabled && context.augment->multi_scale > 0 &&
                      context.out_width_px == context.out_height_px;
  if (scaled) return {context.imgsz, context.imgsz};
  return {context.out_width_px, context.out_height_px};
}

/// A map of continuous coordinates as one of pixel indices, whose centres lie half a pixel in.
Matrix3 between_pixel_centres(const Matrix3& m) {
  const Matrix3 to_centre{{1, 0, 0.5, 0, 1, 0.5, 0, 0, 1}},
      from_centre{{1, 0, -0.5, 0, 1, -0.5, 0, 0, 1}};
  return m == Matrix3{} ? m : from_centre * m * to_centre;
}

struct Layer {
  PlanLayer plan;
  std::vector<LabelObject> objects;  // base pixels
};

class Layout {
 public:
  Layout(const PlanContext& context, const SampleDraws& draws, const DatasetIndex& index,
         std::span<const uint32_t> records)
      : context_(context), draws_(draws), index_(index), base_(base_size(context)) {
    positions_ = positions(draws);
    const size_t count = std::min(positions_.size(), records.size());
    for (size_t i = 0; i < count; ++i) {
      PlanSource source{positions_[i], records[i], 0, 0};
      const ImageRecord& image = index.images[records[i]];
      resized_size(image.width_px, image.height_px, context.imgsz, context.resize, &source.width_px,
                   &source.height_px);
      sources_.push_back(source);
    }
  }

  PlannedSample run() {
    PlannedSample sample;
    SamplePlan& plan = sample.plan;
    if (context_.task == Task::classify) {
      sample = lay_out_classify(context_, draws_, index_, sources_[0].record);
      finish_plan(&plan);
      return sample;
    }
    dropped_ = &sample.labels.dropped;
    Layer own = build(draws_.own);
    std::vector<LabelObject> objects = std::move(own.objects);
    plan.layers.push_back(std::move(own.plan));
    if (draws_.mix != MixKind::none) mix(&plan, &objects);
    finish_plan(&plan);

    const double w = context_.out_width_px, h = context_.out_height_px;
    if (context_.out_width_px != base_.width_px || context_.out_height_px != base_.height_px) {
      scale_objects(w / base_.width_px, h / base_.height_px, &objects);
    }
    flip_objects(plan.flipud, plan.fliplr, w, h, index_.flip_idx, &objects);
    pack_labels(objects, context_.task, w, h, &sample.labels);
    if (context_.task == Task::segment) {
      rasterise_masks(context_.out_width_px, context_.out_height_px, context_.mask_ratio,
                      context_.overlap_mask, &sample.labels);
    }
    return sample;
  }

 private:
  /// What does not depend on geometry.
  void finish_plan(SamplePlan* plan) const {
    plan->seed = context_.seed;
    plan->epoch = draws_.epoch;
    plan->position = draws_.position;
    plan->out_width_px = context_.out_width_px;
    plan->out_height_px = context_.out_height_px;
    plan->channels = context_.channels;
    plan->fidelity = context_.fidelity;
    plan->sources = sources_;
    plan->filters = draws_.filters;
    plan->hsv = hsv();
    // Without a permutation a mirrored left hand would keep its name: such data is never flipped.
    const bool flips = context_.task != Task::pose || !index_.flip_idx.empty();
    plan->flipud = draws_.flipud && flips;
    plan->fliplr = draws_.fliplr && flips;
    plan->bgr = draws_.bgr;
  }

  TiledCanvas tile(const LayerDraws& draws) const {
    std::vector<int32_t> tiles;
    for (const uint64_t position : draws.positions) {
      tiles.push_back(static_cast<int32_t>(
          std::find(positions_.begin(), positions_.end(), position) - positions_.begin()));
    }
    const auto whole = [&](double fraction) { return static_cast<int>(fraction * context_.imgsz); };
    if (tiles.size() == 4) {
      return tile_mosaic4(sources_, tiles, context_.imgsz, whole(draws.centre_x),
                          whole(draws.centre_y));
    }
    if (tiles.size() == 9) return tile_mosaic9(sources_, tiles, context_.imgsz);
    return tile_letterbox(sources_, tiles[0], base_.width_px, base_.height_px, context_.enabled);
  }

  Layer build(const LayerDraws& draws) {
    Layer layer;
    const TiledCanvas canvas = tile(draws);
    for (const PlanTile& t : canvas.tiles) {
      const PlanSource& source = sources_[static_cast<size_t>(t.source)];
      append_tile_objects(index_, source.record, source, t, context_.task, &layer.objects,
                          dropped_);
    }
    if (context_.enabled && context_.mosaic_allowed && context_.task == Task::segment &&
        context_.augment->copy_paste_mode == CopyPasteMode::flip) {
      paste_mirrored(context_.augment->copy_paste, canvas.width_px, &layer.objects,
                     &layer.plan.pastes);
    }
    Matrix3 warp;
    WarpRules rules;
    if (context_.enabled) {
      const bool mosaic = draws.positions.size() > 1;
      warp = perspective_matrix(draws.warp, mosaic ? canvas.width_px : base_.width_px,
                                mosaic ? canvas.height_px : base_.height_px, base_.width_px,
                                base_.height_px);
      rules.scale = draws.warp.scale;
      rules.filter = context_.augment->box_filter;
      rules.min_box_px = context_.augment->min_box_px;
    }
    rules.frame_width_px = base_.width_px;
    rules.frame_height_px = base_.height_px;
    rules.task = context_.task;
    if (canvas.fit != Matrix3{}) transform_objects(canvas.fit, &layer.objects);
    warp_objects(warp, rules, &layer.objects, dropped_);

    const Matrix3 resize{{static_cast<double>(context_.out_width_px) / base_.width_px, 0, 0, 0,
                          static_cast<double>(context_.out_height_px) / base_.height_px, 0, 0, 0,
                          1}};
    const Matrix3 forward =
        between_pixel_centres(resize) * warp * between_pixel_centres(canvas.fit);
    layer.plan.canvas_width_px = canvas.width_px;
    layer.plan.canvas_height_px = canvas.height_px;
    layer.plan.tiles = canvas.tiles;
    layer.plan.map =
        to_inverse_map(forward.inverse(), canvas.width_px == context_.out_width_px &&
                                              canvas.height_px == context_.out_height_px);
    return layer;
  }

  void mix(SamplePlan* plan, std::vector<LabelObject>* objects) {
    if (draws_.mix == MixKind::mixup) {
      Layer partner = build(draws_.partner);
      plan->mix.kind = MixKind::mixup;
      plan->mix.weight_q16 =
          static_cast<uint32_t>(exact::floor_to_int(draws_.mixup_ratio * 65536 + 0.5));
      plan->layers.push_back(std::move(partner.plan));
      std::move(partner.objects.begin(), partner.objects.end(), std::back_inserter(*objects));
      return;
    }
    if (draws_.mix == MixKind::paste) return paste_from_partner(plan, objects);
    const Box rectangle = cutmix_rectangle(*objects);
    if (rectangle.empty()) return;
    const DropCounts before = *dropped_;
    Layer partner = build(draws_.partner);
    std::vector<LabelObject> inside = objects_inside(partner.objects, rectangle, context_.task);
    if (inside.empty()) {
      *dropped_ = before;  // nothing of the partner is shown
      return;
    }
    const double gain_x = static_cast<double>(context_.out_width_px) / base_.width_px;
    const double gain_y = static_cast<double>(context_.out_height_px) / base_.height_px;
    plan->mix.kind = MixKind::cutmix;
    plan->mix.x0 = static_cast<int32_t>(rectangle.x0 * gain_x);
    plan->mix.x1 = static_cast<int32_t>(rectangle.x1 * gain_x);
    plan->mix.y0 = static_cast<int32_t>(rectangle.y0 * gain_y);
    plan->mix.y1 = static_cast<int32_t>(rectangle.y1 * gain_y);
    plan->layers.push_back(std::move(partner.plan));
    std::move(inside.begin(), inside.end(), std::back_inserter(*objects));
  }

  void paste_from_partner(SamplePlan* plan, std::vector<LabelObject>* objects) {
    const DropCounts before = *dropped_;
    Layer partner = build(draws_.partner);
    std::vector<PlanPaste> pastes;
    paste_partner(context_.augment->copy_paste, std::move(partner.objects), objects, &pastes);
    if (pastes.empty()) {
      *dropped_ = before;  // nothing of the partner is shown
      return;
    }
    const double gain_x = static_cast<double>(context_.out_width_px) / base_.width_px;
    const double gain_y = static_cast<double>(context_.out_height_px) / base_.height_px;
    for (PlanPaste& paste : pastes) {
      for (size_t i = 0; i < paste.polygon.size(); ++i) {
        paste.polygon[i] = static_cast<float>(paste.polygon[i] * (i % 2 == 0 ? gain_x : gain_y));
      }
    }
    plan->mix.kind = MixKind::paste;
    plan->mix.pastes = std::move(pastes);
    plan->layers.push_back(std::move(partner.plan));
  }

  /// One of the candidates that touch no box of the first layer; empty where all do.
  Box cutmix_rectangle(const std::vector<LabelObject>& objects) const {
    std::vector<Box> free;
    for (const CutmixCandidate& candidate : draws_.cutmix) {
      const auto whole = [](double value) {
        return static_cast<double>(exact::floor_to_int(value));
      };
      const double w = whole(base_.width_px * candidate.side),
                   h = whole(base_.height_px * candidate.side);
      const double x = whole(base_.width_px * candidate.x),
                   y = whole(base_.height_px * candidate.y);
      const Box frame{0, 0, static_cast<double>(base_.width_px),
                      static_cast<double>(base_.height_px)};
      const Box box =
          Box{x - whole(w / 2), y - whole(h / 2), x + whole(w / 2), y + whole(h / 2)}.intersect(
              frame);
      const bool touches = std::any_of(
          objects.begin(), objects.end(),
          [&](const LabelObject& object) { return !object.box.intersect(box).empty(); });
      if (!box.empty() && !touches) free.push_back(box);
    }
    if (free.empty()) return {};
    return free[static_cast<size_t>(draws_.cutmix_pick * static_cast<double>(free.size()))];
  }

  PlanHsv hsv() const {
    PlanHsv hsv;
    const auto& g = draws_.hsv_gain;
    // Hue, saturation and value need three channels; other pictures keep their levels.
    if (context_.channels != 3 || (g[0] == 0 && g[1] == 0 && g[2] == 0)) return hsv;
    hsv.enabled = true;
    const long long shift = exact::floor_to_int(180 * g[0]) % 180;
    hsv.hue_shift = static_cast<int32_t>(shift < 0 ? shift + 180 : shift);
    const auto gain_q15 = [](double gain) {
      return static_cast<uint32_t>(std::clamp((1 + gain) * 32768, 0.0, 65535.0));
    };
    hsv.sat_gain_q15 = gain_q15(g[1]);
    hsv.val_gain_q15 = gain_q15(g[2]);
    return hsv;
  }

  const PlanContext& context_;
  const SampleDraws& draws_;
  const DatasetIndex& index_;
  Size base_;
  std::vector<uint64_t> positions_;
  std::vector<PlanSource> sources_;
  DropCounts* dropped_ = nullptr;
};

}  // namespace

void resized_size(int width_px, int height_px, int imgsz, ResizeMode mode, int* out_width_px,
                  int* out_height_px) {
  width_px = std::max(width_px, 1), height_px = std::max(height_px, 1);
  if (mode == ResizeMode::stretch) {
    *out_width_px = *out_height_px = imgsz;
    return;
  }
  if (mode == ResizeMode::cover) {
    // torchvision's Resize: the other side is cut to a whole number.
    const auto other = [&](int64_t longer, int64_t shorter) {
      return static_cast<int>(imgsz * longer / shorter);
    };
    *out_width_px = width_px <= height_px ? imgsz : other(width_px, height_px);
    *out_height_px = width_px <= height_px ? other(height_px, width_px) : imgsz;
    return;
  }
  const int longest = std::max(width_px, height_px);
  const double gain = static_cast<double>(imgsz) / longest;
  const auto side = [&](int side_px) {
    if (side_px == longest) return imgsz;
    // ceil of the rounded product, in double, as the reference computes it
    return std::min(static_cast<int>(-exact::floor_to_int(-(side_px * gain))), imgsz);
  };
  *out_width_px = side(width_px);
  *out_height_px = side(height_px);
}

PlannedSample lay_out(const PlanContext& context, const SampleDraws& draws,
                      const DatasetIndex& index, std::span<const uint32_t> records) {
  return Layout(context, draws, index, records).run();
}

}  // namespace yoload
