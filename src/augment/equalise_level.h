// The arithmetic of adaptive equalisation: the table of a tile, and one pixel between four tables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "device/host_device.h"

namespace yoload {

/// First pixel of a tile along one axis.
YOLOAD_HD inline int tile_edge(int tile, int pixels, int tiles) {
  return pixels * tile / tiles;
}

/// Clips a histogram of 256 levels, spreads the excess evenly, and turns it into a table of levels.
/// The histogram is used up.
YOLOAD_HD inline void equalising_table(int* histogram, int pixels, double clip_limit,
                                       uint8_t* table) {
  const int wanted = static_cast<int>(clip_limit * pixels / 256);
  const int limit = wanted > 1 ? wanted : 1;
  int excess = 0;
  for (int level = 0; level < 256; ++level) {
    if (histogram[level] <= limit) continue;
    excess += histogram[level] - limit;
    histogram[level] = limit;
  }
  int rest = excess % 256;
  const int step = rest > 1 ? 256 / rest : 256;
  int64_t sum = 0;
  for (int level = 0, next = 0; level < 256; ++level) {
    sum += histogram[level] + excess / 256;
    if (level == next && rest > 0) ++sum, --rest, next += step;
    const int64_t to = (sum * 255 + pixels / 2) / pixels;
    table[level] = static_cast<uint8_t>(to > 255 ? 255 : to);
  }
}

/// The two tiles whose centres enclose a pixel, along one axis.
struct TileNeighbours {
  int first = 0, second = 0;
  int weight_q11 = 0;  ///< of the second
};

YOLOAD_HD inline TileNeighbours tile_neighbours(int i, int pixels, int tiles) {
  // Position in tiles from the first centre, Q11: (i + 1/2) * tiles / pixels - 1/2. OpenCV's i has
  // no half; its tables are blended half a pixel off their centres, and so are these.
  const auto at = static_cast<int>((static_cast<int64_t>(i) << 11) * tiles / pixels) - (1 << 10);
  if (at < 0) return {0, 0, 0};
  const int first = at >> 11 < tiles - 1 ? at >> 11 : tiles - 1;
  return {first, first + 1 < tiles ? first + 1 : tiles - 1, at & 0x7ff};
}

/// A level between the tables of four tiles; `tables` has 256 levels a tile, row by row.
YOLOAD_HD inline uint8_t equalised(const uint8_t* tables, int tiles_x, TileNeighbours column,
                                   TileNeighbours row, uint8_t level) {
  const auto across = [&](int tile_y) {
    const uint8_t* of_row = tables + tile_y * tiles_x * 256 + level;
    return of_row[column.first * 256] * (2048 - column.weight_q11) +
           of_row[column.second * 256] * column.weight_q11;
  };
  return static_cast<uint8_t>((across(row.first) * (2048 - row.weight_q11) +
                               across(row.second) * row.weight_q11 + (1 << 21)) >>
                              22);
}

}  // namespace yoload
