// Step two of the planner: draws and records -> integer plan and labels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "augment/geometry.h"
#include "augment/objects.h"
#include "augment/plan.h"

namespace yoload {
namespace {

/// One canvas on its way to the plan, with the labels that it carries.
struct LaidLayer {
  PlanLayer layer;
  std::vector<Object> objects;
};

/// Lays out one sample; the members are what all steps share.
class Layout {
 public:
  Layout(const PlanContext& context, const SampleDraws& draws, const DatasetIndex& index,
         std::span<const uint32_t> records)
      : context_(context), draws_(draws), index_(index), positions_(positions(draws)), records_(records) {}

  PlannedSample run() {
    SamplePlan& plan = result_.plan;
    plan.seed = context_.seed;
    plan.epoch = draws_.epoch;
    plan.position = draws_.position;
    plan.out_width_px = context_.out_width_px;
    plan.out_height_px = context_.out_height_px;
    plan.channels = context_.channels;
    plan.fidelity = context_.fidelity;
    add_sources();

    LaidLayer own = context_.enabled ? lay_layer(draws_.own) : lay_validation();
    std::vector<Object> objects = std::move(own.objects);
    plan.layers.push_back(std::move(own.layer));
    if (draws_.mix != MixKind::none) mix(&objects);
    if (context_.enabled) {
      colour();
      flip(&objects);
    }
    write_labels(objects, frame_width(), frame_height(), index_.task, index_.kpt_count, &result_.labels);
    return std::move(result_);
  }

 private:
  // Labels live in the frame before multi-scale: imgsz, or the rect shape.
  bool scaled() const { return context_.enabled && context_.out_width_px != context_.imgsz &&
                               context_.out_width_px == context_.out_height_px; }
  int frame_width() const { return scaled() ? context_.imgsz : context_.out_width_px; }
  int frame_height() const { return scaled() ? context_.imgsz : context_.out_height_px; }

  void add_sources() {
    for (size_t i = 0; i < positions_.size(); ++i) {
      const ImageRecord& image = index_.images[records_[i]];
      PlanSource source;
      source.position = positions_[i];
      source.record = records_[i];
      resized_size(image.width_px, image.height_px, context_.imgsz, context_.resize, &source.width_px,
                   &source.height_px);
      result_.plan.sources.push_back(source);
    }
  }

  int source_of(uint64_t position) const {
    return static_cast<int>(std::find(positions_.begin(), positions_.end(), position) - positions_.begin());
  }

  LaidLayer lay_layer(const LayerDraws& draws) {
    LaidLayer laid;
    const bool mosaic = draws.positions.size() > 1;
    if (draws.positions.size() == 4) {
      place_mosaic4(draws, &laid.layer);
    } else if (draws.positions.size() == 9) {
      place_mosaic9(draws, &laid.layer);
    } else {
      place_letterbox(draws.positions[0], frame_width(), frame_height(), &laid.layer);
    }
    collect(&laid);
    Warp warp = make_warp(*context_.augment, draws.warp, laid.layer.canvas_width_px,
                          laid.layer.canvas_height_px, frame_width(), frame_height());
    if (!mosaic && is_identity_up_to_rounding(warp.matrix)) warp.matrix = kIdentity3;
    warp_objects(warp, frame_width(), frame_height(), index_.task, rules(), &laid.objects,
                 &result_.labels.dropped);
    set_map(warp.matrix, &laid.layer);
    return laid;
  }

  /// SEMANTICS 9: letterbox without upscaling, half of the padding on each side.
  LaidLayer lay_validation() {
    LaidLayer laid;
    const PlanSource& source = result_.plan.sources[0];
    const int width = context_.out_width_px, height = context_.out_height_px;
    if (source.width_px <= width && source.height_px <= height) {
      place_letterbox(draws_.own.positions[0], width, height, &laid.layer);
      collect(&laid);
      warp_objects({}, width, height, index_.task, rules(), &laid.objects, &result_.labels.dropped);
      return laid;
    }
    // A rect shape smaller than the picture: the canvas is as large as the picture needs and is scaled down.
    const double ratio = std::min(static_cast<double>(height) / source.height_px,
                                  static_cast<double>(width) / source.width_px);
    const int canvas_width = static_cast<int>(std::ceil(width / ratio));
    const int canvas_height = static_cast<int>(std::ceil(height / ratio));
    place_letterbox(draws_.own.positions[0], canvas_width, canvas_height, &laid.layer);
    collect(&laid);
    Warp shrink;
    shrink.gain = ratio;
    shrink.matrix = scale_matrix(static_cast<double>(width) / canvas_width,
                                 static_cast<double>(height) / canvas_height);
    warp_objects(shrink, width, height, index_.task, rules(), &laid.objects, &result_.labels.dropped);
    laid.layer.map = inverse_map(shrink.matrix);
    return laid;
  }

  /// Primary top-left of the centre, then top-right, bottom-left, bottom-right; inner corners touch.
  void place_mosaic4(const LayerDraws& draws, PlanLayer* layer) {
    const int s = context_.imgsz, side = 2 * s;
    layer->canvas_width_px = layer->canvas_height_px = side;
    const auto centre = [&](double draw) { return static_cast<int>(s / 2.0 + draw * s); };
    const int yc = centre(draws.center_y), xc = centre(draws.center_x);
    for (int i = 0; i < 4; ++i) {
      const int source = source_of(draws.positions[static_cast<size_t>(i)]);
      const PlanSource& picture = result_.plan.sources[static_cast<size_t>(source)];
      PlanTile tile;
      tile.source = source;
      const bool right = i % 2 == 1, bottom = i >= 2;
      tile.offset_x = right ? xc : xc - picture.width_px;
      tile.offset_y = bottom ? yc : yc - picture.height_px;
      show(picture, 0, 0, side, side, &tile);
      layer->tiles.push_back(tile);
    }
  }

  /// 3 x 3 around the primary, clockwise from the top; every tile touches its predecessor. The visible
  /// window is 2s x 2s at a drawn offset inside the 3s x 3s field.
  void place_mosaic9(const LayerDraws& draws, PlanLayer* layer) {
    const int s = context_.imgsz;
    const int origin_x = static_cast<int>(draws.center_x * s), origin_y = static_cast<int>(draws.center_y * s);
    layer->canvas_width_px = layer->canvas_height_px = 2 * s;
    int w0 = 0, h0 = 0, wp = 0, hp = 0;
    for (int i = 0; i < 9; ++i) {
      const int source = source_of(draws.positions[static_cast<size_t>(i)]);
      const PlanSource& picture = result_.plan.sources[static_cast<size_t>(source)];
      const int w = picture.width_px, h = picture.height_px;
      int x = s, y = s;
      switch (i) {
        case 0: w0 = w, h0 = h; break;
        case 1: y = s - h; break;                              // top
        case 2: x = s + wp, y = s - h; break;                  // top right
        case 3: x = s + w0; break;                             // right
        case 4: x = s + w0, y = s + hp; break;                 // bottom right
        case 5: x = s + w0 - w, y = s + h0; break;             // bottom
        case 6: x = s + w0 - wp - w, y = s + h0; break;        // bottom left
        case 7: x = s - w, y = s + h0 - h; break;              // left
        default: x = s - w, y = s + h0 - hp - h; break;        // top left
      }
      PlanTile tile;
      tile.source = source;
      tile.offset_x = x - origin_x;
      tile.offset_y = y - origin_y;
      show(picture, 0, 0, 2 * s, 2 * s, &tile);
      layer->tiles.push_back(tile);
      wp = w, hp = h;
    }
  }

  void place_letterbox(uint64_t position, int width, int height, PlanLayer* layer) {
    layer->canvas_width_px = width;
    layer->canvas_height_px = height;
    PlanTile tile;
    tile.source = source_of(position);
    const PlanSource& picture = result_.plan.sources[static_cast<size_t>(tile.source)];
    // round(d - 0.1) with d half of the padding: the odd pixel goes to the right and the bottom.
    tile.offset_x = static_cast<int>(std::floor((width - picture.width_px) / 2.0 - 0.1 + 0.5));
    tile.offset_y = static_cast<int>(std::floor((height - picture.height_px) / 2.0 - 0.1 + 0.5));
    show(picture, 0, 0, width, height, &tile);
    layer->tiles.push_back(tile);
  }

  /// The visible rectangle: where the picture lies, cut by the canvas. Empty ones stay empty.
  static void show(const PlanSource& picture, int x0, int y0, int x1, int y1, PlanTile* tile) {
    tile->x0 = std::max(x0, tile->offset_x), tile->y0 = std::max(y0, tile->offset_y);
    tile->x1 = std::max(tile->x0, std::min(x1, tile->offset_x + picture.width_px));
    tile->y1 = std::max(tile->y0, std::min(y1, tile->offset_y + picture.height_px));
  }

  void collect(LaidLayer* laid) {
    for (const PlanTile& tile : laid->layer.tiles) {
      const PlanSource& source = result_.plan.sources[static_cast<size_t>(tile.source)];
      append_tile_objects(index_, source.record, tile, source, laid->layer.canvas_width_px,
                          laid->layer.canvas_height_px, &laid->objects, &result_.labels.dropped);
    }
  }

  static Matrix3 scale_matrix(double x, double y) {
    return {x, 0, 0.5 * x - 0.5, 0, y, 0.5 * y - 0.5, 0, 0, 1};
  }

  static bool is_identity_up_to_rounding(const Matrix3& matrix) {
    for (size_t i = 0; i < 9; ++i) {
      if (std::fabs(matrix[i] - kIdentity3[i]) > 1e-9) return false;
    }
    return true;
  }

  /// Folds multi-scale (a resampling of the finished picture in the reference) into the warp.
  void set_map(const Matrix3& matrix, PlanLayer* layer) const {
    if (!scaled()) {
      layer->map = inverse_map(matrix);
      return;
    }
    const double ratio = static_cast<double>(context_.out_width_px) / context_.imgsz;
    layer->map = inverse_map(multiply(scale_matrix(ratio, ratio), matrix));
  }

  FilterRules rules() const { return {context_.augment->box_filter, context_.augment->min_box_px}; }

  void mix(std::vector<Object>* objects) {
    LaidLayer partner = lay_layer(draws_.partner);
    PlanMix& mix = result_.plan.mix;
    mix.kind = draws_.mix;
    if (mix.kind == MixKind::mixup) {
      mix.weight_q16 = static_cast<uint32_t>(draws_.mixup_ratio * 65536);
      std::move(partner.objects.begin(), partner.objects.end(), std::back_inserter(*objects));
    } else if (!choose_cut(*objects, &mix)) {
      mix = PlanMix();
      return;  // no rectangle is free of own boxes: the sample stays as it is
    } else {
      paste_objects(mix, &partner.objects, objects);
      to_output_pixels(&mix);
    }
    result_.plan.layers.push_back(std::move(partner.layer));
  }

  /// SEMANTICS 6: of three candidates those that touch no own box; one of them.
  bool choose_cut(const std::vector<Object>& objects, PlanMix* mix) const {
    std::vector<PlanMix> free;
    for (const auto& [lambda, x, y] : draws_.cutmix) {
      const double side = std::sqrt(1 - lambda);
      const double w = frame_width(), h = frame_height();
      const int cut_w = static_cast<int>(w * side), cut_h = static_cast<int>(h * side);
      const int cx = static_cast<int>(x * w), cy = static_cast<int>(y * h);
      PlanMix candidate = *mix;
      candidate.x0 = std::clamp(cx - cut_w / 2, 0, frame_width());
      candidate.y0 = std::clamp(cy - cut_h / 2, 0, frame_height());
      candidate.x1 = std::clamp(cx + cut_w / 2, 0, frame_width());
      candidate.y1 = std::clamp(cy + cut_h / 2, 0, frame_height());
      if (candidate.x1 <= candidate.x0 || candidate.y1 <= candidate.y0) continue;
      const bool touches = std::any_of(objects.begin(), objects.end(), [&](const Object& object) {
        return std::min<double>(object.box.x1, candidate.x1) > std::max<double>(object.box.x0, candidate.x0) &&
               std::min<double>(object.box.y1, candidate.y1) > std::max<double>(object.box.y0, candidate.y0);
      });
      if (!touches) free.push_back(candidate);
    }
    if (free.empty()) return false;
    *mix = free[std::min(free.size() - 1,
                         static_cast<size_t>(draws_.cutmix_choice * static_cast<double>(free.size())))];
    return true;
  }

  /// Partner objects with at least a tenth of their area inside the rectangle, clipped to it.
  static void paste_objects(const PlanMix& mix, std::vector<Object>* from, std::vector<Object>* to) {
    for (Object& object : *from) {
      Box cut{std::clamp<double>(object.box.x0, mix.x0, mix.x1), std::clamp<double>(object.box.y0, mix.y0, mix.y1),
              std::clamp<double>(object.box.x1, mix.x0, mix.x1), std::clamp<double>(object.box.y1, mix.y0, mix.y1)};
      const double share = object.polygon.empty() ? 0.1 : 0.01;
      if (!(cut.area() > 0) || cut.area() < share * object.box.area()) continue;
      object.box = cut;
      clip_to(mix, &object);
      to->push_back(std::move(object));
    }
  }

  static void clip_to(const PlanMix& mix, Object* object);

  void to_output_pixels(PlanMix* mix) const {
    if (!scaled()) return;
    const auto scale = [&](int32_t* edge) {
      *edge = static_cast<int32_t>(static_cast<int64_t>(*edge) * context_.out_width_px / context_.imgsz);
    };
    scale(&mix->x0), scale(&mix->y0), scale(&mix->x1), scale(&mix->y1);
  }

  void colour() {
    const AugmentOptions& augment = *context_.augment;
    result_.plan.filters = draws_.filters;
    result_.plan.bgr = draws_.bgr;
    if (context_.channels != 3 || (augment.hsv_h == 0 && augment.hsv_s == 0 && augment.hsv_v == 0)) return;
    PlanHsv& hsv = result_.plan.hsv;
    hsv.enabled = true;
    const auto shift = static_cast<int>(std::floor(draws_.hsv[0] * augment.hsv_h * 180));
    hsv.hue_shift = ((shift % 180) + 180) % 180;
    const auto gain = [](double draw, float bound) {
      return static_cast<uint32_t>(std::clamp((1 + draw * bound) * 32768, 0.0, 65535.0));
    };
    hsv.sat_gain_q15 = gain(draws_.hsv[1], augment.hsv_s);
    hsv.val_gain_q15 = gain(draws_.hsv[2], augment.hsv_v);
  }

  void flip(std::vector<Object>* objects) {
    // Pose without flip_idx cannot be mirrored: left would be called right.
    const bool mirrored = draws_.fliplr && !(index_.task == Task::pose && index_.flip_idx.empty());
    result_.plan.flipud = draws_.flipud && !(index_.task == Task::pose && index_.flip_idx.empty());
    result_.plan.fliplr = mirrored;
    flip_objects(result_.plan.flipud, mirrored, frame_width(), frame_height(), index_.flip_idx, objects);
  }

  const PlanContext& context_;
  const SampleDraws& draws_;
  const DatasetIndex& index_;
  const std::vector<uint64_t> positions_;
  const std::span<const uint32_t> records_;
  PlannedSample result_;
};

void Layout::clip_to(const PlanMix& mix, Object* object) {
  for (Point& p : object->polygon) {
    p = {std::clamp<double>(p.x, mix.x0, mix.x1), std::clamp<double>(p.y, mix.y0, mix.y1)};
  }
  for (Keypoint& keypoint : object->keypoints) {
    if (keypoint.at.x < mix.x0 || keypoint.at.x > mix.x1 || keypoint.at.y < mix.y0 || keypoint.at.y > mix.y1) {
      keypoint.visibility = 0;
    }
  }
}

}  // namespace

void resized_size(int width_px, int height_px, int imgsz, ResizeMode mode, int* resized_width_px,
                  int* resized_height_px) {
  if (mode == ResizeMode::stretch) {
    *resized_width_px = *resized_height_px = imgsz;
    return;
  }
  const int longest = std::max(width_px, height_px);
  if (longest == imgsz || longest <= 0) {
    *resized_width_px = width_px;
    *resized_height_px = height_px;
    return;
  }
  const double ratio = static_cast<double>(imgsz) / longest;
  const auto side = [&](int px) {
    return std::clamp(static_cast<int>(std::ceil(px * ratio)), 1, imgsz);
  };
  *resized_width_px = side(width_px);
  *resized_height_px = side(height_px);
}

PlannedSample lay_out(const PlanContext& context, const SampleDraws& draws, const DatasetIndex& index,
                      std::span<const uint32_t> records) {
  return Layout(context, draws, index, records).run();
}

}  // namespace yoload
