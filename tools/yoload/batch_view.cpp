// SPDX-License-Identifier: Apache-2.0
#include "yoload/batch_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace yoload::cli {
namespace {

/// IEEE 754 binary16 to float.
float half_to_float(uint16_t half) {
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                          : exponent == 31
                              ? (fraction != 0 ? NAN : INFINITY)
                              : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

uint8_t level_at(const Batch& batch, size_t element) {
  const uint8_t* data = batch.img.get();
  float fraction = 0;
  switch (batch.dtype) {
    case DType::uint8:
      return data[element];
    case DType::float16: {
      uint16_t half = 0;
      std::memcpy(&half, data + 2 * element, sizeof half);
      fraction = half_to_float(half);
      break;
    }
    case DType::bfloat16: {
      uint16_t half = 0;
      std::memcpy(&half, data + 2 * element, sizeof half);
      fraction = std::bit_cast<float>(uint32_t{half} << 16);
      break;
    }
    case DType::float32:
      std::memcpy(&fraction, data + 4 * element, sizeof fraction);
      break;
  }
  // Written so that NaN becomes black instead of an undefined conversion.
  return fraction > 0 ? static_cast<uint8_t>(std::min(fraction, 1.0f) * 255.0f + 0.5f) : uint8_t{0};
}

/// Tints the pixels of instance `object` and outlines them.
void draw_mask(const Batch& batch, int sample, size_t row, const DrawnObject& object,
               RgbImage* image) {
  const size_t mask_px =
      static_cast<size_t>(batch.mask_width_px) * static_cast<size_t>(batch.mask_height_px);
  const bool overlap = batch.masks.size() == mask_px * static_cast<size_t>(batch.size);
  const size_t plane = overlap ? static_cast<size_t>(sample) : row;
  if (mask_px == 0 || (plane + 1) * mask_px > batch.masks.size()) return;
  const int wanted = overlap ? object.mask_value : 1;
  const int32_t* mask = batch.masks.data() + plane * mask_px;
  const auto inside = [&](int x, int y) {
    const int mx = x * batch.mask_width_px / image->width_px,
              my = y * batch.mask_height_px / image->height_px;
    return mask[my * batch.mask_width_px + mx] == wanted;
  };
  const Rgb c = class_colour(object.cls);
  for (int y = 0; y < image->height_px; ++y) {
    for (int x = 0; x < image->width_px; ++x) {
      if (!inside(x, y)) continue;
      Rgb& p = image->at(x, y);
      const auto tint = [](uint8_t a, uint8_t b) {
        return static_cast<uint8_t>((a * 11 + b * 9) / 20);
      };
      p = {tint(p.r, c.r), tint(p.g, c.g), tint(p.b, c.b)};
    }
  }
}

void draw_name(const DrawnObject& object, const std::string& name, float cap_px, RgbImage* image) {
  const Rgb colour = class_colour(object.cls);
  const float pad = cap_px * 0.45f;
  const float width = text_width(name, cap_px) + 2 * pad, height = cap_px + 2 * pad;
  const float reach_x = std::abs(std::cos(object.angle)) * object.half.x +
                        std::abs(std::sin(object.angle)) * object.half.y;
  const float reach_y = std::abs(std::sin(object.angle)) * object.half.x +
                        std::abs(std::cos(object.angle)) * object.half.y;
  // Above the box where there is room, else inside its top; never beyond the sides of the picture.
  float x = std::clamp(object.centre.x - reach_x, 0.0f,
                       std::max(0.0f, static_cast<float>(image->width_px) - width));
  float y = object.centre.y - reach_y - height;
  if (y < 0) y = std::max(0.0f, object.centre.y - reach_y);
  fill_box(image, {x + width / 2, y + height / 2}, {width / 2, height / 2}, 0, cap_px * 0.3f,
           {colour, 0.92f});
  const bool light = colour.r * 3 + colour.g * 6 + colour.b > 1300;
  draw_text(image, {x + pad, y + pad}, name, cap_px,
            {light ? Rgb{20, 20, 20} : Rgb{255, 255, 255}});
}

}  // namespace

RgbImage sample_image(const Batch& batch, int sample) {
  RgbImage image(batch.width_px, batch.height_px);
  const size_t plane = image.pixels.size();
  const size_t start = static_cast<size_t>(sample) * static_cast<size_t>(batch.channels) * plane;
  const size_t green = batch.channels >= 3 ? plane : 0, blue = batch.channels >= 3 ? 2 * plane : 0;
  for (size_t i = 0; i < plane; ++i) {
    image.pixels[i] = {level_at(batch, start + i), level_at(batch, start + green + i),
                       level_at(batch, start + blue + i)};
  }
  return image;
}

std::vector<DrawnObject> sample_objects(const Batch& batch, int sample) {
  std::vector<DrawnObject> objects;
  const size_t n = batch.cls.size();
  const size_t columns = n == 0 ? 0 : batch.bboxes.size() / n;  // 4, OBB 5, classify 0
  const size_t points = n == 0 ? 0 : batch.keypoints.size() / n / 3;
  const auto width = static_cast<float>(batch.width_px),
             height = static_cast<float>(batch.height_px);
  int mask_value = 0;
  for (size_t row = 0; row < n; ++row) {
    // Classification has one class a sample and no batch_idx.
    const auto owner = row < batch.batch_idx.size() ? static_cast<int>(batch.batch_idx[row])
                                                    : static_cast<int>(row);
    if (owner != sample) continue;
    DrawnObject object;
    object.cls = static_cast<int>(batch.cls[row]);
    object.mask_value = ++mask_value;
    if (columns >= 4) {
      const float* box = batch.bboxes.data() + row * columns;
      object.centre = {box[0] * width, box[1] * height};
      object.half = {box[2] * width / 2, box[3] * height / 2};
      if (columns >= 5) object.angle = box[4];
    }
    for (size_t k = 0; k < points; ++k) {
      const float* point = batch.keypoints.data() + (row * points + k) * 3;
      if (point[2] > 0) object.keypoints.push_back({point[0] * width, point[1] * height});
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

Rgb class_colour(int cls) {
  // Ten hues picked by eye to differ on a dark and on a light ground; beyond ten they repeat
  // darker.
  static constexpr std::array<Rgb, 10> kColours = {{{255, 82, 82},
                                                    {64, 196, 255},
                                                    {255, 202, 40},
                                                    {105, 224, 120},
                                                    {214, 120, 255},
                                                    {255, 145, 60},
                                                    {40, 220, 200},
                                                    {255, 128, 190},
                                                    {150, 160, 255},
                                                    {200, 230, 80}}};
  const int index = std::max(0, cls);
  Rgb colour = kColours[static_cast<size_t>(index) % kColours.size()];
  if (index / static_cast<int>(kColours.size()) % 2 == 1) {
    const auto darker = [](uint8_t v) { return static_cast<uint8_t>(v * 7 / 10); };
    colour = {darker(colour.r), darker(colour.g), darker(colour.b)};
  }
  return colour;
}

void draw_labels(const Batch& batch, int sample, const std::vector<std::string>& names,
                 RgbImage* image) {
  std::vector<DrawnObject> objects = sample_objects(batch, sample);
  const float sx = static_cast<float>(image->width_px) / static_cast<float>(batch.width_px);
  const float sy = static_cast<float>(image->height_px) / static_cast<float>(batch.height_px);
  const float cap_px = std::clamp(static_cast<float>(image->width_px) / 50, 7.0f, 14.0f);
  const float line_px = std::max(1.5f, cap_px / 5);

  if (!batch.masks.empty()) {
    size_t first_row = 0;
    while (first_row < batch.batch_idx.size() &&
           batch.batch_idx[first_row] < static_cast<float>(sample))
      ++first_row;
    for (size_t i = 0; i < objects.size(); ++i)
      draw_mask(batch, sample, first_row + i, objects[i], image);
  }
  for (DrawnObject& object : objects) {
    object.centre = {object.centre.x * sx, object.centre.y * sy};
    object.half = {object.half.x * sx, object.half.y * sy};
    const Paint paint{class_colour(object.cls)};
    if (object.half.x <= 0 && object.half.y <= 0) continue;  // classification: a name, no box
    // A dark rim keeps the outline visible on a ground of its own colour.
    draw_box(image, object.centre, object.half, object.angle, 1, line_px + 2,
             {Rgb{0, 0, 0}, 0.45f});
    draw_box(image, object.centre, object.half, object.angle, 1, line_px, paint);
    for (const Point& point : object.keypoints) {
      fill_disc(image, {point.x * sx, point.y * sy}, line_px + 2, {Rgb{0, 0, 0}, 0.6f});
      fill_disc(image, {point.x * sx, point.y * sy}, line_px + 1, paint);
    }
  }
  // Names last, so that no box crosses them; in a crowd small boxes go without, or nothing else is
  // seen.
  constexpr size_t kCrowd = 8;
  for (const DrawnObject& object : objects) {
    const auto cls = static_cast<size_t>(std::max(0, object.cls));
    const std::string text = cls < names.size() ? names[cls] : fmt::format("class {}", object.cls);
    if (objects.size() > kCrowd && 2 * object.half.x < 0.8f * text_width(text, cap_px)) continue;
    draw_name(object, text, cap_px, image);
  }
}

}  // namespace yoload::cli
