// SPDX-License-Identifier: Apache-2.0
#include "augment/plan_classify.h"

#include <algorithm>
#include <cmath>

#include "augment/exact_math.h"
#include "augment/plan.h"

namespace yoload {
namespace {

// torchvision's RandomResizedCrop and RandomErasing, as the reference sets them.
constexpr double kLogMaxCropAspect = 0.28768207245178092744;  // ln(4/3)
constexpr double kLogMaxEraseAspect = 1.19392246847243466;    // ln(3.3)
constexpr double kMinErase = 0.02, kMaxErase = 0.33;

int whole(double value) {
  return static_cast<int>(exact::floor_to_int(value));
}

/// Half of `rest`, as torchvision's CenterCrop rounds it: 10.5 is 10, 11.5 is 12.
int half_to_even(int rest) {
  const int half = rest / 2;
  return rest % 2 != 0 && half % 2 != 0 ? half + 1 : half;
}

CropAttempt draw_attempt(double min_area, double max_area, double log_aspect, Draws* draws) {
  CropAttempt attempt;
  attempt.area = draws->uniform(min_area, max_area);
  attempt.aspect = exact::exp(draws->uniform(-log_aspect, log_aspect));
  attempt.x = draws->uniform();
  attempt.y = draws->uniform();
  return attempt;
}

/// The attempt's rectangle in a picture of w x h; empty when it does not fit.
PlanRect rectangle(const CropAttempt& attempt, int w, int h) {
  const double area = attempt.area * w * h;
  const int width = whole(std::sqrt(area * attempt.aspect) + 0.5);
  const int height = whole(std::sqrt(area / attempt.aspect) + 0.5);
  if (width < 1 || height < 1 || width > w || height > h) return {};
  const int x = whole(attempt.x * (w - width + 1)), y = whole(attempt.y * (h - height + 1));
  return {x, y, x + width, y + height};
}

PlanRect first_that_fits(std::span<const CropAttempt> attempts, int w, int h) {
  for (const CropAttempt& attempt : attempts) {
    const PlanRect found = rectangle(attempt, w, h);
    if (found.x1 > found.x0) return found;
  }
  return {};
}

/// The middle, with the aspect ratio kept within 3/4 to 4/3.
PlanRect central_crop(int w, int h) {
  int width = w, height = h;
  if (4 * h < 3 * w) width = std::max(1, whole(h * (4.0 / 3) + 0.5));
  if (4 * w < 3 * h) height = std::max(1, whole(w * (4.0 / 3) + 0.5));
  width = std::min(width, w), height = std::min(height, h);
  const int x = (w - width) / 2, y = (h - height) / 2;
  return {x, y, x + width, y + height};
}

/// Output 0 .. out - 1 onto the pixels first .. last.
void map_side(int out, int first, int last, int64_t* step, int64_t* start) {
  *step = out > 1 ? (static_cast<int64_t>(last - first) << 32) / (out - 1) : 0;
  *start = static_cast<int64_t>(first) << 32;
}

PlanLayer picture_layer(int width, int height) {
  PlanLayer layer;
  layer.canvas_width_px = width;
  layer.canvas_height_px = height;
  layer.tiles.push_back({0, 0, 0, width, height, 0, 0});
  return layer;
}

/// The middle of the picture without resampling (its shorter side is the output's).
PlanLayer centre_layer(const PlanSource& source, int out_width, int out_height) {
  PlanLayer layer = picture_layer(out_width, out_height);
  PlanTile& tile = layer.tiles[0];
  tile.offset_x = -half_to_even(source.width_px - out_width);
  tile.offset_y = -half_to_even(source.height_px - out_height);
  tile.x0 = std::max(0, tile.offset_x), tile.y0 = std::max(0, tile.offset_y);
  tile.x1 = std::min(out_width, tile.offset_x + source.width_px);
  tile.y1 = std::min(out_height, tile.offset_y + source.height_px);
  return layer;
}

PlanLayer crop_layer(const PlanSource& source, const PlanRect& crop, int out_width,
                     int out_height) {
  PlanLayer layer = picture_layer(source.width_px, source.height_px);
  layer.map.kind = MapKind::axis_aligned;
  map_side(out_width, crop.x0, crop.x1 - 1, &layer.map.xx, &layer.map.x0);
  map_side(out_height, crop.y0, crop.y1 - 1, &layer.map.yy, &layer.map.y0);
  return layer;
}

}  // namespace

ClassifyDraws draw_classify(const AugmentOptions& augment, Draws draws) {
  ClassifyDraws classify;
  for (CropAttempt& attempt : classify.crops) {
    attempt = draw_attempt(1 - augment.scale, 1, kLogMaxCropAspect, &draws);
  }
  classify.erases = draws.uniform() < augment.erasing;
  for (CropAttempt& attempt : classify.erasures) {
    attempt = draw_attempt(kMinErase, kMaxErase, kLogMaxEraseAspect, &draws);
  }
  return classify;
}

PlannedSample lay_out_classify(const PlanContext& context, const SampleDraws& draws,
                               const DatasetIndex& index, uint32_t record) {
  PlannedSample sample;
  SamplePlan& plan = sample.plan;
  const int out_width = context.out_width_px, out_height = context.out_height_px;
  PlanSource source{draws.position, record, 0, 0};
  const ImageRecord& image = index.images[record];
  resized_size(image.width_px, image.height_px, context.imgsz, context.resize, &source.width_px,
               &source.height_px);
  plan.sources.push_back(source);
  if (context.enabled) {
    PlanRect crop = first_that_fits(draws.classify.crops, source.width_px, source.height_px);
    if (crop.x1 <= crop.x0) crop = central_crop(source.width_px, source.height_px);
    plan.layers.push_back(crop_layer(source, crop, out_width, out_height));
    if (draws.classify.erases)
      plan.erase = first_that_fits(draws.classify.erasures, out_width, out_height);
  } else {
    plan.layers.push_back(centre_layer(source, out_width, out_height));
  }
  // One label a picture: its class, over all of it.
  for (const LabelRow& row : index.rows_of(record)) {
    sample.labels.cls.push_back(row.cls);
    sample.labels.bboxes.insert(sample.labels.bboxes.end(), {0.5F, 0.5F, 1, 1});
  }
  return sample;
}

}  // namespace yoload
