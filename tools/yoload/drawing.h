// Anti-aliased shapes on an RgbImage: lines, boxes, discs, polygons and stroked text.
//
// Every shape is a signed distance: a pixel's share of the colour is how far its centre lies inside
// the outline, clamped to one pixel of softness. Coordinates are pixels, (0, 0) is the top-left
// corner of the top-left pixel; what lies outside the picture is clipped.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "yoload/rgb_image.h"

namespace yoload::cli {

struct Point {
  float x = 0, y = 0;
};

/// Colour with opacity and with the width of the edge (1 is sharp; larger is a soft glow).
struct Paint {
  Rgb colour;
  float opacity = 1;
  float softness_px = 1;
};

void fill_disc(RgbImage* image, Point centre, float radius_px, const Paint& paint);
void draw_ring(RgbImage* image, Point centre, float radius_px, float width_px, const Paint& paint);
/// Round-ended line.
void draw_line(RgbImage* image, Point from, Point to, float width_px, const Paint& paint);
/// Box of half sides (half.x, half.y) around `centre`, turned by `angle` radians, corners rounded.
void fill_box(RgbImage* image, Point centre, Point half, float angle, float corner_px,
              const Paint& paint);
/// Outline of the same box, `width_px` wide, centred on its edge.
void draw_box(RgbImage* image, Point centre, Point half, float angle, float corner_px,
              float width_px, const Paint& paint);
void draw_polyline(RgbImage* image, std::span<const Point> points, float width_px,
                   const Paint& paint);

/// Text with its top-left corner at `corner`; capitals are `cap_px` high.
void draw_text(RgbImage* image, Point corner, std::string_view text, float cap_px,
               const Paint& paint);
/// Width that draw_text needs.
float text_width(std::string_view text, float cap_px);

}  // namespace yoload::cli
