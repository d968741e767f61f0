// Where the pictures of one layer lie on its canvas.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "augment/plan_map.h"
#include "core/plan.h"

namespace yoload {

/// A canvas with its tiles, and what still lies between it and the picture of the base size.
struct TiledCanvas {
  int width_px = 0, height_px = 0;
  std::vector<PlanTile> tiles;
  Matrix3 fit;  ///< canvas -> base picture; identity unless a rect batch shrinks or grows the tile
};

/// Mosaic 2x2: 2s x 2s, every tile touches (centre_x, centre_y) with its inner corner. `tiles` are
/// indices into `sources`: top left, top right, bottom left, bottom right.
TiledCanvas tile_mosaic4(std::span<const PlanSource> sources, std::span<const int32_t> tiles,
                         int imgsz, int centre_x_px, int centre_y_px);

/// Mosaic 3x3: the middle 2s x 2s of a 3s x 3s arrangement, the main picture's corner at (s/2,
/// s/2), the others clockwise round it from the top.
TiledCanvas tile_mosaic9(std::span<const PlanSource> sources, std::span<const int32_t> tiles,
                         int imgsz);

/// One picture in the middle of a base_width x base_height canvas.
TiledCanvas tile_letterbox(std::span<const PlanSource> sources, int32_t tile, int base_width_px,
                           int base_height_px, bool scale_up);

}  // namespace yoload
