// Random plans for the tests that compare executors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "augment/plan_map.h"
#include "augment/run.h"
#include "core/image.h"
#include "core/plan.h"
#include "core/render_target.h"

namespace yoload {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int in(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<uint32_t>(high - low + 1));
  }
  double unit() { return engine_() * 0x1p-32; }
  bool chance(double p) { return unit() < p; }

 private:
  std::mt19937 engine_;
};

inline Image noise(Random* random, int width, int height, int channels) {
  Image image(nullptr, width, height, channels);
  const auto view = image.mutable_view();
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) view.at(c, y, x) = static_cast<uint8_t>(random->in(0, 255));
    }
  }
  return image;
}

/// A plan with its pictures.
struct Case {
  SamplePlan plan;
  std::vector<Image> images;
  std::vector<ImageView> tiles;
  RenderTarget target;
};

/// A canvas of 1, 4 or 9 overlapping tiles under any kind of map.
inline PlanLayer random_layer(Random* random, Case* c, int out_width, int out_height) {
  const int imgsz = std::max(out_width, out_height);
  PlanLayer layer;
  const int count = random->chance(0.6) ? 4 : random->chance(0.3) ? 9 : 1;
  const int side = count == 1 ? imgsz : 2 * imgsz;
  layer.canvas_width_px = layer.canvas_height_px = side;
  for (int i = 0; i < count; ++i) {
    const int width = random->in(1, imgsz), height = random->in(1, imgsz);
    PlanSource source;
    source.width_px = width, source.height_px = height;
    const bool scaled = c->plan.fidelity == Fidelity::fused;
    c->images.push_back(noise(random, scaled ? random->in(1, 2 * width) : width,
                              scaled ? random->in(1, 2 * height) : height, c->plan.channels));
    PlanTile tile;
    tile.source = static_cast<int>(c->plan.sources.size());
    c->plan.sources.push_back(source);
    tile.offset_x = random->in(-width / 2, side - 1),
    tile.offset_y = random->in(-height / 2, side - 1);
    tile.x0 = std::max(0, tile.offset_x), tile.y0 = std::max(0, tile.offset_y);
    tile.x1 = std::max(tile.x0, std::min(side, tile.offset_x + width));
    tile.y1 = std::max(tile.y0, std::min(side, tile.offset_y + height));
    layer.tiles.push_back(tile);
  }
  const int kind = random->in(0, 9);
  PerspectiveDraws draws;
  draws.scale = 1 + (random->chance(0.2) ? 0.95 : 0.5) * (2 * random->unit() - 1);
  draws.shift_x = 0.3 + 0.4 * random->unit(), draws.shift_y = 0.3 + 0.4 * random->unit();
  if (kind >= 7) {
    draws.degrees = 90 * random->unit() - 45;
    draws.shear_x_degrees = 20 * random->unit() - 10,
    draws.shear_y_degrees = 20 * random->unit() - 10;
  }
  if (kind == 9)
    draws.p20 = 0.004 * random->unit() - 0.002, draws.p21 = 0.004 * random->unit() - 0.002;
  if (kind != 0) {
    const Matrix3 matrix = perspective_matrix(draws, side, side, out_width, out_height);
    layer.map = to_inverse_map(matrix.inverse(), side == out_width && side == out_height);
  }
  if (random->chance(0.1)) {
    const auto s = static_cast<float>(side);
    layer.pastes.push_back({{0.1f * s, 0.2f * s, 0.7f * s, 0.3f * s, 0.5f * s, 0.9f * s}});
    layer.pastes.push_back({{-0.2f * s, -0.1f * s, 0.2f * s, 0.1f * s, 0.3f * s, 1.2f * s}});
  }
  return layer;
}

/// Everything that a plan can hold, drawn from `seed`.
/// Sizes other than 0 are kept to.
inline Case random_case(uint32_t seed, int wanted_width = 0, int wanted_height = 0,
                        int wanted_channels = 0) {
  Random random(seed);
  Case c;
  int width = random.chance(0.1) ? random.in(1, 8) : random.in(9, 150);
  int height = random.chance(0.7) ? width : random.in(1, 150);
  if (wanted_width != 0) width = wanted_width, height = wanted_height;
  c.plan.out_width_px = width, c.plan.out_height_px = height;
  c.plan.channels = random.chance(0.8) ? 3 : random.chance(0.5) ? 1 : 5;
  if (wanted_channels != 0) c.plan.channels = wanted_channels;
  c.plan.fidelity = random.chance(0.75) ? Fidelity::exact : Fidelity::fused;
  c.plan.layers.push_back(random_layer(&random, &c, width, height));
  if (random.chance(0.3)) {
    c.plan.layers.push_back(random_layer(&random, &c, width, height));
    c.plan.mix.kind = random.chance(0.4)   ? MixKind::mixup
                      : random.chance(0.5) ? MixKind::cutmix
                                           : MixKind::paste;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    c.plan.mix.pastes.push_back({{0.1f * w, 0.2f * h, 0.8f * w, 0.1f * h, 0.6f * w, 0.9f * h}});
    c.plan.mix.pastes.push_back({{-3, -2, 0.2f * w, 0, 0.3f * w, 1.2f * h}});
    c.plan.mix.weight_q16 = static_cast<uint32_t>(random.in(0, 65536));
    c.plan.mix.x0 = random.in(0, width - 1), c.plan.mix.x1 = random.in(c.plan.mix.x0, width);
    c.plan.mix.y0 = random.in(0, height - 1), c.plan.mix.y1 = random.in(c.plan.mix.y0, height);
  }
  if (random.chance(0.15)) c.plan.filters.push_back({FilterKind::blur, 3 + 2 * random.in(0, 2)});
  if (random.chance(0.1))
    c.plan.filters.push_back({FilterKind::median_blur, 3 + 2 * random.in(0, 2)});
  if (random.chance(0.05)) c.plan.filters.push_back({FilterKind::to_gray});
  if (random.chance(0.1)) c.plan.filters.push_back({FilterKind::clahe, 8, 700});
  c.plan.hsv.enabled = random.chance(0.7);
  c.plan.hsv.hue_shift = random.in(0, 179);
  c.plan.hsv.sat_gain_q15 = static_cast<uint32_t>(random.in(0, 65535));
  c.plan.hsv.val_gain_q15 = static_cast<uint32_t>(random.in(0, 65535));
  if (random.chance(0.1)) {
    c.plan.erase = {width / 3, height / 4, width - width / 5, height - height / 3};
    c.plan.erase.y0 = std::min(c.plan.erase.y0, c.plan.erase.y1);
  }
  c.plan.flipud = random.chance(0.5), c.plan.fliplr = random.chance(0.5),
  c.plan.bgr = random.chance(0.3);
  for (const Image& image : c.images) c.tiles.push_back(image.view());
  c.target.width_px = width, c.target.height_px = height, c.target.channels = c.plan.channels;
  c.target.dtype = random.chance(0.5)   ? DType::uint8
                   : random.chance(0.4) ? DType::float16
                   : random.chance(0.5) ? DType::bfloat16
                                        : DType::float32;
  c.target.mul = {1 / 255.0f, 1 / 57.1f, 0.017f}, c.target.add = {0, -1.8f, 0.3f};
  return c;
}

using Bytes = std::vector<uint8_t>;

/// Samples of one batch: one size, channel count, number type and memory format.
struct BatchCase {
  std::vector<Case> samples;
  int width_px = 0, height_px = 0, channels = 0;
  DType dtype = DType::uint8;
  MemoryFormat format = MemoryFormat::contiguous;
  std::array<float, 3> mul = {}, add = {};

  size_t sample_bytes() const {
    return static_cast<size_t>(width_px) * static_cast<size_t>(height_px) *
           static_cast<size_t>(channels) * bytes_of(dtype);
  }
  /// Byte at which sample i begins.
  size_t place(size_t i) const { return i * sample_bytes(); }
};

/// Cuts or leaves random_case() plans to what can share a batch.
inline BatchCase random_batch(uint32_t seed, int size) {
  BatchCase batch;
  Random random(seed ^ 0x5eed);
  Case first = random_case(seed * 97);
  batch.width_px = first.plan.out_width_px, batch.height_px = first.plan.out_height_px;
  batch.channels = first.plan.channels;
  batch.dtype = first.target.dtype;
  batch.format = random.chance(0.4) ? MemoryFormat::channels_last : MemoryFormat::contiguous;
  batch.mul = first.target.mul, batch.add = first.target.add;
  batch.samples.push_back(std::move(first));
  for (int i = 1; i < size; ++i) {
    batch.samples.push_back(random_case(seed * 97 + static_cast<uint32_t>(i), batch.width_px,
                                        batch.height_px, batch.channels));
  }
  return batch;
}

/// The batch as run_ref makes it, brought into its memory format.
inline Bytes reference(BatchCase* batch) {
  Bytes out(batch->place(batch->samples.size()));
  Bytes planar(batch->sample_bytes());
  const size_t pixels =
      static_cast<size_t>(batch->width_px) * static_cast<size_t>(batch->height_px);
  const auto channels = static_cast<size_t>(batch->channels);
  const size_t element = bytes_of(batch->dtype);
  RenderScratch scratch;
  for (size_t i = 0; i < batch->samples.size(); ++i) {
    Case& c = batch->samples[i];
    c.target.dtype = batch->dtype;
    c.target.data = planar.data();
    run_ref(c.plan, c.tiles, c.target, scratch);
    uint8_t* to = out.data() + batch->place(i);
    for (size_t channel = 0; channel < channels; ++channel) {
      for (size_t pixel = 0; pixel < pixels; ++pixel) {
        const size_t at = batch->format == MemoryFormat::contiguous ? channel * pixels + pixel
                                                                    : pixel * channels + channel;
        std::copy_n(planar.data() + (channel * pixels + pixel) * element, element,
                    to + at * element);
      }
    }
  }
  return out;
}

}  // namespace yoload
