// SPDX-License-Identifier: Apache-2.0
#include "yoload/drawing.h"

#include <algorithm>
#include <cmath>

#include "yoload/stroke_font.h"

namespace yoload::cli {
namespace {

uint8_t mix(uint8_t under, uint8_t over, float share) {
  return static_cast<uint8_t>(static_cast<float>(under) +
                              (static_cast<float>(over) - under) * share + 0.5f);
}

/// Paints where `distance(point)` (pixels, negative inside) says so, in the given rectangle.
template <class Distance>
void paint_shape(RgbImage* image, Point low, Point high, const Paint& paint,
                 const Distance& distance) {
  const float soft = std::max(1.0f, paint.softness_px);
  // Clamped as floats: a hostile coordinate must not overflow the conversion.
  const auto bound = [](float v, int limit) {
    return static_cast<int>(std::clamp(v, 0.0f, static_cast<float>(limit)));
  };
  const int x0 = bound(low.x - soft, image->width_px),
            x1 = bound(high.x + soft + 1, image->width_px);
  const int y0 = bound(low.y - soft, image->height_px),
            y1 = bound(high.y + soft + 1, image->height_px);
  for (int y = y0; y < y1; ++y) {
    for (int x = x0; x < x1; ++x) {
      const float d = distance(Point{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f});
      const float share = std::clamp(0.5f - d / soft, 0.0f, 1.0f) * paint.opacity;
      if (share <= 0) continue;
      Rgb& p = image->at(x, y);
      p = {mix(p.r, paint.colour.r, share), mix(p.g, paint.colour.g, share),
           mix(p.b, paint.colour.b, share)};
    }
  }
}

float segment_distance(Point p, Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length2 = dx * dx + dy * dy;
  const float t =
      length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0f, 1.0f) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/// Signed distance to a rounded box around the origin.
float box_distance(Point p, Point half, float corner) {
  const float qx = std::abs(p.x) - half.x + corner, qy = std::abs(p.y) - half.y + corner;
  return std::hypot(std::max(qx, 0.0f), std::max(qy, 0.0f)) + std::min(std::max(qx, qy), 0.0f) -
         corner;
}

template <class Outline>
void paint_box(RgbImage* image, Point centre, Point half, float angle, float corner, float grow,
               const Paint& paint, const Outline& outline) {
  const float c = std::cos(angle), s = std::sin(angle);
  const float reach_x = std::abs(c) * half.x + std::abs(s) * half.y + grow;
  const float reach_y = std::abs(s) * half.x + std::abs(c) * half.y + grow;
  paint_shape(image, {centre.x - reach_x, centre.y - reach_y},
              {centre.x + reach_x, centre.y + reach_y}, paint, [&](Point p) {
                const float x = p.x - centre.x, y = p.y - centre.y;
                return outline(box_distance({c * x + s * y, c * y - s * x}, half, corner));
              });
}

}  // namespace

void fill_disc(RgbImage* image, Point centre, float radius_px, const Paint& paint) {
  paint_shape(image, {centre.x - radius_px, centre.y - radius_px},
              {centre.x + radius_px, centre.y + radius_px}, paint,
              [&](Point p) { return std::hypot(p.x - centre.x, p.y - centre.y) - radius_px; });
}

void draw_ring(RgbImage* image, Point centre, float radius_px, float width_px, const Paint& paint) {
  const float reach = radius_px + width_px / 2;
  paint_shape(image, {centre.x - reach, centre.y - reach}, {centre.x + reach, centre.y + reach},
              paint, [&](Point p) {
                return std::abs(std::hypot(p.x - centre.x, p.y - centre.y) - radius_px) -
                       width_px / 2;
              });
}

void draw_line(RgbImage* image, Point from, Point to, float width_px, const Paint& paint) {
  const float half = width_px / 2;
  paint_shape(image, {std::min(from.x, to.x) - half, std::min(from.y, to.y) - half},
              {std::max(from.x, to.x) + half, std::max(from.y, to.y) + half}, paint,
              [&](Point p) { return segment_distance(p, from, to) - half; });
}

void fill_box(RgbImage* image, Point centre, Point half, float angle, float corner_px,
              const Paint& paint) {
  paint_box(image, centre, half, angle, corner_px, 0, paint, [](float d) { return d; });
}

void draw_box(RgbImage* image, Point centre, Point half, float angle, float corner_px,
              float width_px, const Paint& paint) {
  paint_box(image, centre, half, angle, corner_px, width_px / 2, paint,
            [&](float d) { return std::abs(d) - width_px / 2; });
}

void draw_polyline(RgbImage* image, std::span<const Point> points, float width_px,
                   const Paint& paint) {
  if (points.empty()) return;
  Point low = points[0], high = points[0];
  for (const Point& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const float half = width_px / 2;
  // One distance to the whole line, so that half-transparent joints are not painted twice.
  paint_shape(image, {low.x - half, low.y - half}, {high.x + half, high.y + half}, paint,
              [&](Point p) {
                float nearest = std::hypot(p.x - points[0].x, p.y - points[0].y);
                for (size_t i = 1; i < points.size(); ++i) {
                  nearest = std::min(nearest, segment_distance(p, points[i - 1], points[i]));
                }
                return nearest - half;
              });
}

void draw_text(RgbImage* image, Point corner, std::string_view text, float cap_px,
               const Paint& paint) {
  const float unit = cap_px / kCapUnits;
  float pen = corner.x;
  std::vector<Point> stroke;
  for (char c : text) {
    const Glyph glyph = glyph_of(c);
    const auto flush = [&] {
      draw_polyline(image, stroke, std::max(1.0f, 0.85f * unit), paint);
      stroke.clear();
    };
    for (size_t i = 0; i < glyph.strokes.size();) {
      if (glyph.strokes[i] == ' ') {
        flush();
        ++i;
        continue;
      }
      stroke.push_back({pen + (static_cast<float>(glyph.strokes[i] - '0') + 0.4f) * unit,
                        corner.y + (static_cast<float>(glyph.strokes[i + 1] - '0')) * unit});
      i += 2;
    }
    flush();
    pen += static_cast<float>(glyph.width + kSpacingUnits) * unit;
  }
}

float text_width(std::string_view text, float cap_px) {
  int units = 0;
  for (char c : text) units += glyph_of(c).width + kSpacingUnits;
  return static_cast<float>(units) * cap_px / kCapUnits;
}

}  // namespace yoload::cli
