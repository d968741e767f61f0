// SPDX-License-Identifier: Apache-2.0
#include "yoload/board_art.h"

#include <algorithm>
#include <cmath>

#include "yoload/board_layout.h"
#include "yoload/dice.h"

namespace yoload::cli {
namespace {

constexpr int kDesigns = 5;
constexpr Rgb kSilk = {226, 230, 222}, kTin = {190, 194, 198}, kGold = {214, 176, 92},
              kBlack = {30, 31, 34};

Rgb shade(Rgb c, float gain) {
  const auto level = [&](uint8_t v) {
    return static_cast<uint8_t>(std::clamp(static_cast<float>(v) * gain, 0.0f, 255.0f));
  };
  return {level(c.r), level(c.g), level(c.b)};
}

/// Draws in board units: scales, and places the board a little differently under every camera shot.
class BoardPainter {
 public:
  BoardPainter(uint64_t seed, int number, int width_px, int height_px)
      : dice_(seed, 5'000'000 + static_cast<uint64_t>(number)),
        unit_px_(static_cast<float>(width_px) / kBoardWidth),
        layout_(make_layout(seed, number % kDesigns, static_cast<float>(height_px) / unit_px_)),
        angle_(dice_.range(-0.02f, 0.02f)),
        shift_{dice_.range(-8, 8), dice_.range(-8, 8)} {
    photo_.image =
        RgbImage(width_px, height_px, shade(layout_.mask_colour, dice_.range(0.92f, 1.08f)));
  }

  BoardPhoto paint() {
    paint_copper();
    choose_missing();
    for (size_t i = 0; i < layout_.parts.size(); ++i)
      paint_part(layout_.parts[i], missing_[i] != 0);
    paint_print();
    // One board in ten is good: pictures without a label belong into every real data set.
    if (!flawless_) {
      for (int n = dice_.pick(0, 2); n > 0; --n) paint_scratch();
      for (int n = dice_.pick(0, 2); n > 0; --n) paint_spot();
      if (dice_.chance(0.55f)) paint_bridge();
    }
    expose();
    return std::move(photo_);
  }

 private:
  Point map(Point p) const {
    const float x = p.x - kBoardWidth / 2, y = p.y - layout_.height / 2;
    return {(x - angle_ * y + kBoardWidth / 2 + shift_.x) * unit_px_,
            (y + angle_ * x + layout_.height / 2 + shift_.y) * unit_px_};
  }
  Paint paint(Rgb colour, float opacity = 1, float softness = 1) const {
    return {colour, opacity, std::max(1.0f, softness * unit_px_)};
  }
  void box(Point centre, Point half, float corner, const Paint& p) {
    fill_box(&photo_.image, map(centre), {half.x * unit_px_, half.y * unit_px_}, angle_,
             corner * unit_px_, p);
  }
  void outline(Point centre, Point half, float width, const Paint& p) {
    draw_box(&photo_.image, map(centre), {half.x * unit_px_, half.y * unit_px_}, angle_, unit_px_,
             width * unit_px_, p);
  }
  void disc(Point centre, float radius, const Paint& p) {
    fill_disc(&photo_.image, map(centre), radius * unit_px_, p);
  }
  void ring(Point centre, float radius, float width, const Paint& p) {
    draw_ring(&photo_.image, map(centre), radius * unit_px_, width * unit_px_, p);
  }
  void line(Point a, Point b, float width, const Paint& p) {
    draw_line(&photo_.image, map(a), map(b), width * unit_px_, p);
  }
  void text(Point corner, std::string_view words, float cap, const Paint& p) {
    draw_text(&photo_.image, map(corner), words, cap * unit_px_, p);
  }

  /// Records a defect around board points, `margin` units wider; not if it lies outside the
  /// picture.
  void note(int cls, Point low, Point high, float margin) {
    const auto clip = [](float v, int limit) {
      return std::clamp(v, 0.0f, static_cast<float>(limit));
    };
    const int width = photo_.image.width_px, height = photo_.image.height_px;
    const Defect d = {
        cls, clip(low.x - margin * unit_px_, width), clip(low.y - margin * unit_px_, height),
        clip(high.x + margin * unit_px_, width), clip(high.y + margin * unit_px_, height)};
    if (d.x1 - d.x0 > 4 && d.y1 - d.y0 > 4) photo_.defects.push_back(d);
  }

  void paint_copper() {
    const Rgb track = shade(layout_.mask_colour, 1.38f);
    for (const Track& t : layout_.tracks) {
      std::vector<Point> points;
      for (const Point& p : t.points) points.push_back(map(p));
      // Segment by segment: one polyline would test its whole bounding box against every segment.
      for (size_t i = 1; i < points.size(); ++i) {
        draw_line(&photo_.image, points[i - 1], points[i], t.width * unit_px_, paint(track));
      }
      for (const Point& end : {t.points.front(), t.points.back()}) {
        disc(end, 4.2f, paint(shade(kGold, 0.92f)));
        disc(end, 1.8f, paint({24, 26, 24}));
      }
    }
    for (const Point& hole : layout_.holes) {
      disc(hole, 17, paint(kGold));
      ring(hole, 14, 1, paint(shade(kGold, 0.8f)));
      disc(hole, 9.5f, paint({16, 17, 18}));
    }
  }

  void choose_missing() {
    missing_.assign(layout_.parts.size(), 0);
    flawless_ = dice_.chance(0.1f);
    int wanted = flawless_ ? 0 : dice_.chance(0.6f) ? dice_.pick(1, 2) : 0;
    for (int tries = 0; wanted > 0 && tries < 50; ++tries) {
      const auto i = static_cast<size_t>(dice_.pick(0, static_cast<int>(layout_.parts.size()) - 1));
      const PartKind kind = layout_.parts[i].kind;
      if ((kind != PartKind::resistor && kind != PartKind::capacitor) || missing_[i] != 0) continue;
      missing_[i] = 1;
      --wanted;
    }
  }

  void paint_part(const Part& part, bool missing) {
    switch (part.kind) {
      case PartKind::resistor:
      case PartKind::capacitor:
        paint_small(part, missing);
        break;
      case PartKind::chip:
        paint_chip(part, false);
        break;
      case PartKind::quad:
        paint_chip(part, true);
        break;
      case PartKind::can:
        paint_can(part);
        break;
      case PartKind::connector:
        paint_connector(part);
        break;
    }
  }

  void paint_small(const Part& part, bool missing) {
    const Point c = part.centre;
    const auto along = [&](float a, float b) { return part.upright ? Point{b, a} : Point{a, b}; };
    const Point pad = along(9.5f, 0);
    outline(c, along(17, 9), 0.9f, paint(kSilk, 0.75f));
    for (float side : {-1.0f, 1.0f}) {
      box({c.x + side * pad.x, c.y + side * pad.y}, along(4.4f, 6.2f), 0.8f,
          paint(missing ? kGold : kTin));
    }
    if (missing) {
      const Point half = along(14, 7), m = map(c);
      note(2, {m.x - half.x * unit_px_, m.y - half.y * unit_px_},
           {m.x + half.x * unit_px_, m.y + half.y * unit_px_}, 1.5f);
      return;
    }
    box({c.x + 1.2f, c.y + 1.8f}, along(11, 6), 1, paint({0, 0, 0}, 0.35f, 3));
    const bool resistor = part.kind == PartKind::resistor;
    box(c, along(11, 5.6f), 0.6f, paint(shade(kTin, 1.1f)));
    box(c, along(7.2f, 5.6f), 0.3f, paint(resistor ? kBlack : Rgb{176, 140, 98}));
    if (resistor) {
      line({c.x - along(3, 0).x, c.y - along(3, 0).y}, {c.x + along(3, 0).x, c.y + along(3, 0).y},
           1.3f, paint({210, 210, 210}, 0.8f));
    } else {
      box({c.x - 0.8f, c.y - 1.4f}, along(6, 1.3f), 0.5f, paint({214, 184, 144}, 0.6f));
    }
  }

  void paint_chip(const Part& part, bool quad) {
    const Point c = part.centre;
    const float pin = 7, pitch = 8;
    const Point body = {part.half.x - pin, quad ? part.half.y - pin : part.half.y};
    outline(c, {part.half.x + 5, part.half.y + 5}, 1, paint(kSilk, 0.8f));
    const auto pins = [&](bool horizontal, float side) {
      const float reach = (horizontal ? body.y : body.x) - 5;
      const int count = std::max(2, static_cast<int>(2 * reach / pitch) + 1);
      for (int i = 0; i < count; ++i) {
        const float along = (static_cast<float>(i) - static_cast<float>(count - 1) / 2) * pitch;
        const Point centre = horizontal ? Point{c.x + side * (body.x + pin / 2), c.y + along}
                                        : Point{c.x + along, c.y + side * (body.y + pin / 2)};
        const Point half = horizontal ? Point{pin / 2 + 1, 2.1f} : Point{2.1f, pin / 2 + 1};
        box(centre, half, 0.6f, paint(kTin));
        if (i > 0) {
          const Point before =
              horizontal ? Point{centre.x, centre.y - pitch} : Point{centre.x - pitch, centre.y};
          bridge_places_.push_back({before, centre});
        }
      }
    };
    for (float side : {-1.0f, 1.0f}) {
      pins(true, side);
      if (quad) pins(false, side);
    }
    box({c.x + 2, c.y + 3}, body, 2, paint({0, 0, 0}, 0.4f, 5));
    box(c, body, 1.5f, paint(kBlack));
    outline(c, {body.x - 2, body.y - 2}, 1, paint({52, 54, 58}));
    disc({c.x - body.x + 8, c.y - body.y + 8}, 2.6f, paint({70, 72, 76}));
    text({c.x - body.x + 9, c.y - 5}, quad ? "YL8266" : "74HC", quad ? 9.0f : 6.5f,
         paint({150, 152, 156}, 0.85f));
    if (quad) text({c.x - body.x + 9, c.y + 9}, "2647-C", 6, paint({150, 152, 156}, 0.7f));
  }

  void paint_can(const Part& part) {
    const Point c = part.centre;
    const float radius = part.half.x - 1;
    ring(c, radius + 4, 1, paint(kSilk, 0.8f));
    disc({c.x + 3, c.y + 4}, radius, paint({0, 0, 0}, 0.4f, 6));
    disc(c, radius, paint({150, 154, 160}));
    disc({c.x - radius * 0.2f, c.y - radius * 0.2f}, radius * 0.72f,
         paint({206, 210, 214}, 0.9f, radius * 0.5f));
    box({c.x + radius * 0.62f, c.y}, {radius * 0.2f, radius * 0.62f}, 2,
        paint({36, 38, 42}, 0.92f));
  }

  void paint_connector(const Part& part) {
    const int count = static_cast<int>(2 * part.half.x / 13);
    for (int i = 0; i < count; ++i) {
      const float x =
          part.centre.x + (static_cast<float>(i) - static_cast<float>(count - 1) / 2) * 13;
      box({x, part.centre.y}, {4.2f, part.half.y}, 1, paint(kGold));
      box({x - 1.3f, part.centre.y}, {1, part.half.y - 3}, 1, paint({244, 218, 150}, 0.6f));
    }
  }

  void paint_print() {
    for (const Part& part : layout_.parts) {
      if (part.kind == PartKind::connector) continue;
      const float width = text_width(part.label, 6.5f);
      const bool small = part.kind == PartKind::resistor || part.kind == PartKind::capacitor;
      const float clear = small ? (part.upright ? 20.0f : 12.0f) : part.half.y + 9;
      text({part.centre.x - width / 2, part.centre.y - clear - 7}, part.label, 6.5f,
           paint(kSilk, 0.85f));
    }
    text({62, layout_.height - 24}, layout_.title, 11, paint(kSilk, 0.9f));
  }

  void paint_scratch() {
    Point p = {dice_.range(60, kBoardWidth - 60), dice_.range(60, layout_.height - 60)};
    float heading = dice_.range(0, 6.2832f);
    const float bend = dice_.range(-0.05f, 0.05f), step = 9;
    const int steps = dice_.pick(7, 24);
    const float width = dice_.range(1.1f, 2.2f);
    Point low = map(p), high = low;
    for (int i = 0; i < steps; ++i) {
      heading += bend + dice_.range(-0.08f, 0.08f);
      const Point next = {p.x + step * std::cos(heading), p.y + step * std::sin(heading)};
      // Deep in the middle, fading at both ends; a dark burr beside the bright metal.
      const float depth =
          std::sin(3.1416f * (static_cast<float>(i) + 0.8f) / (static_cast<float>(steps) + 0.6f));
      line({p.x + 1, p.y + 1.2f}, {next.x + 1, next.y + 1.2f}, width,
           paint({8, 14, 10}, 0.45f * depth));
      line(p, next, width * (0.6f + 0.5f * depth), paint({228, 206, 166}, 0.4f + 0.55f * depth));
      p = next;
      const Point m = map(p);
      low = {std::min(low.x, m.x), std::min(low.y, m.y)};
      high = {std::max(high.x, m.x), std::max(high.y, m.y)};
    }
    note(0, low, high, 2.5f);
  }

  void paint_spot() {
    const Point c = {dice_.range(50, kBoardWidth - 50), dice_.range(50, layout_.height - 50)};
    const float radius = dice_.range(6, 18);
    const bool burnt = dice_.chance(0.6f);
    const Rgb colour = burnt ? Rgb{46, 30, 18} : Rgb{206, 198, 168};
    Point low = map(c), high = low;
    for (int n = dice_.pick(4, 7); n > 0; --n) {
      const float r = radius * dice_.range(0.45f, 0.8f);
      const Point lobe = {c.x + dice_.range(-0.6f, 0.6f) * radius,
                          c.y + dice_.range(-0.6f, 0.6f) * radius};
      disc(lobe, r, paint(colour, burnt ? 0.6f : 0.42f, r * 0.5f));
      const Point m = map(lobe);
      low = {std::min(low.x, m.x - r * unit_px_), std::min(low.y, m.y - r * unit_px_)};
      high = {std::max(high.x, m.x + r * unit_px_), std::max(high.y, m.y + r * unit_px_)};
    }
    note(1, low, high, 1);
  }

  void paint_bridge() {
    if (bridge_places_.empty()) return;
    const auto& [a, b] = bridge_places_[static_cast<size_t>(
        dice_.pick(0, static_cast<int>(bridge_places_.size()) - 1))];
    line({a.x + 1, a.y + 1.5f}, {b.x + 1, b.y + 1.5f}, 8, paint({0, 0, 0}, 0.35f, 2.5f));
    line(a, b, 7.4f, paint({168, 172, 178}));
    line({a.x - 0.8f, a.y - 1}, {b.x - 0.8f, b.y - 1}, 2.6f, paint({238, 240, 244}, 0.9f, 2));
    const Point ma = map(a), mb = map(b);
    note(3, {std::min(ma.x, mb.x), std::min(ma.y, mb.y)},
         {std::max(ma.x, mb.x), std::max(ma.y, mb.y)}, 5);
  }

  /// Glass weave, uneven light, exposure and sensor noise.
  void expose() {
    const int width = photo_.image.width_px, height = photo_.image.height_px;
    const float gain = dice_.range(0.86f, 1.12f), tilt_x = dice_.range(-0.12f, 0.12f),
                tilt_y = dice_.range(-0.12f, 0.12f);
    const float glare_x = dice_.range(0.1f, 0.9f), glare_y = dice_.range(0.1f, 0.9f),
                glare = dice_.range(4, 20);
    std::vector<float> weave(static_cast<size_t>(width));
    for (int x = 0; x < width; ++x)
      weave[static_cast<size_t>(x)] = 1.6f * std::sin(static_cast<float>(x) / unit_px_ * 1.9f);
    for (int y = 0; y < height; ++y) {
      const float v = static_cast<float>(y) / static_cast<float>(height);
      const float weave_y = 1.6f * std::sin(static_cast<float>(y) / unit_px_ * 1.9f);
      for (int x = 0; x < width; ++x) {
        const float u = static_cast<float>(x) / static_cast<float>(width);
        const float distance2 = (u - glare_x) * (u - glare_x) + (v - glare_y) * (v - glare_y);
        const float light = gain * (1 + tilt_x * (u - 0.5f) + tilt_y * (v - 0.5f));
        const float add = weave[static_cast<size_t>(x)] + weave_y + glare / (1 + 12 * distance2);
        const uint64_t bits = dice_.bits();
        // Two bytes a channel: their sum has the triangular spread of summed sensor noise.
        const auto level = [&](uint8_t base, int shift) {
          const float noise =
              static_cast<float>(((bits >> shift) & 255) + ((bits >> (shift + 8)) & 255)) - 255;
          return static_cast<uint8_t>(std::clamp(
              static_cast<float>(base) * light + add + noise * 0.022f + 0.5f, 0.0f, 255.0f));
        };
        Rgb& p = photo_.image.at(x, y);
        p = {level(p.r, 0), level(p.g, 16), level(p.b, 32)};
      }
    }
  }

  Dice dice_;
  float unit_px_;
  BoardLayout layout_;
  float angle_;
  Point shift_;
  BoardPhoto photo_;
  bool flawless_ = false;
  std::vector<uint8_t> missing_;                        // in step with layout_.parts
  std::vector<std::pair<Point, Point>> bridge_places_;  // neighbouring pins
};

}  // namespace

BoardPhoto draw_board(uint64_t seed, int number, int width_px, int height_px) {
  return BoardPainter(seed, number, width_px, height_px).paint();
}

}  // namespace yoload::cli
