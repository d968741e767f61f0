// SPDX-License-Identifier: Apache-2.0
#include "augment/plan_tiles.h"

#include <algorithm>
#include <array>

#include "augment/exact_math.h"

namespace yoload {
namespace {

/// Adds a tile at (x, y), cut by the canvas. One wholly outside is left out.
void place(std::span<const PlanSource> sources, int32_t source, int x, int y, TiledCanvas* canvas) {
  const PlanSource& picture = sources[static_cast<size_t>(source)];
  PlanTile tile;
  tile.source = source;
  tile.offset_x = x, tile.offset_y = y;
  tile.x0 = std::max(x, 0), tile.y0 = std::max(y, 0);
  tile.x1 = std::min(x + picture.width_px, canvas->width_px);
  tile.y1 = std::min(y + picture.height_px, canvas->height_px);
  if (tile.x1 > tile.x0 && tile.y1 > tile.y0) canvas->tiles.push_back(tile);
}

/// Half to even, as Python's round().
int round_half_even(double value) {
  const long long low = exact::floor_to_int(value);
  const double rest = value - static_cast<double>(low);
  const bool up = rest > 0.5 || (rest == 0.5 && (low & 1) != 0);
  return static_cast<int>(low + (up ? 1 : 0));
}

}  // namespace

TiledCanvas tile_mosaic4(std::span<const PlanSource> sources, std::span<const int32_t> tiles,
                         int imgsz, int centre_x_px, int centre_y_px) {
  TiledCanvas canvas{2 * imgsz, 2 * imgsz, {}, {}};
  for (size_t i = 0; i < 4; ++i) {
    const PlanSource& picture = sources[static_cast<size_t>(tiles[i])];
    const bool left = i % 2 == 0, top = i < 2;
    place(sources, tiles[i], left ? centre_x_px - picture.width_px : centre_x_px,
          top ? centre_y_px - picture.height_px : centre_y_px, &canvas);
  }
  return canvas;
}

TiledCanvas tile_mosaic9(std::span<const PlanSource> sources, std::span<const int32_t> tiles,
                         int imgsz) {
  TiledCanvas canvas{2 * imgsz, 2 * imgsz, {}, {}};
  const auto width = [&](size_t i) { return sources[static_cast<size_t>(tiles[i])].width_px; };
  const auto height = [&](size_t i) { return sources[static_cast<size_t>(tiles[i])].height_px; };
  const int c = imgsz / 2, right = c + width(0), bottom = c + height(0);
  // Each corner picture hangs on the edge picture before it, as the reference was seen to do.
  const std::array<std::array<int, 2>, 9> corner = {
      {{c, c},
       {c, c - height(1)},
       {c + width(1), c - height(2)},
       {right, c},
       {right, c + height(3)},
       {right - width(5), bottom},
       {right - width(5) - width(6), bottom},
       {c - width(7), bottom - height(7)},
       {c - width(8), bottom - height(7) - height(8)}}};
  for (size_t i = 0; i < 9; ++i) place(sources, tiles[i], corner[i][0], corner[i][1], &canvas);
  return canvas;
}

TiledCanvas tile_letterbox(std::span<const PlanSource> sources, int32_t tile, int base_width_px,
                           int base_height_px, bool scale_up) {
  const PlanSource& picture = sources[static_cast<size_t>(tile)];
  const int w = picture.width_px, h = picture.height_px;
  double gain =
      std::min(static_cast<double>(base_height_px) / h, static_cast<double>(base_width_px) / w);
  if (!scale_up) gain = std::min(gain, 1.0);
  const int new_w = std::max(round_half_even(w * gain), 1),
            new_h = std::max(round_half_even(h * gain), 1);
  // round(d - 0.1) with d a multiple of one half is the floor of d.
  const int left = std::max(base_width_px - new_w, 0) / 2,
            top = std::max(base_height_px - new_h, 0) / 2;
  if (new_w == w && new_h == h) {
    TiledCanvas canvas{base_width_px, base_height_px, {}, {}};
    place(sources, tile, left, top, &canvas);
    return canvas;
  }
  // The pool shares a picture between samples at one size, so another size becomes part of the map.
  TiledCanvas canvas{w, h, {}, {}};
  place(sources, tile, 0, 0, &canvas);
  const double gx = static_cast<double>(new_w) / w, gy = static_cast<double>(new_h) / h;
  canvas.fit = {{gx, 0, static_cast<double>(left), 0, gy, static_cast<double>(top), 0, 0,
                 1}};  // continuous coordinates, as labels use
  return canvas;
}

}  // namespace yoload
