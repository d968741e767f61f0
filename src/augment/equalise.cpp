// SPDX-License-Identifier: Apache-2.0
#include "augment/equalise.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "augment/equalise_level.h"

namespace yoload {
namespace {

using Histogram = std::array<int, 256>;
using LevelTable = std::array<uint8_t, 256>;

}  // namespace

void equalise_adaptively(MutableImageView picture, int channel, int tiles_per_side,
                         double clip_limit) {
  const int width = picture.width_px, height = picture.height_px;
  const int tiles_x = std::min(tiles_per_side, width), tiles_y = std::min(tiles_per_side, height);
  std::vector<LevelTable> tables;
  std::vector<Histogram> histograms(static_cast<size_t>(tiles_x));
  for (int ty = 0; ty < tiles_y; ++ty) {
    const int y0 = tile_edge(ty, height, tiles_y), y1 = tile_edge(ty + 1, height, tiles_y);
    std::fill(histograms.begin(), histograms.end(), Histogram{});
    for (int y = y0; y < y1; ++y) {
      const uint8_t* row = picture.row(channel, y);
      for (int tx = 0; tx < tiles_x; ++tx) {
        Histogram& histogram = histograms[static_cast<size_t>(tx)];
        for (int x = tile_edge(tx, width, tiles_x); x < tile_edge(tx + 1, width, tiles_x); ++x) {
          ++histogram[row[x]];
        }
      }
    }
    for (int tx = 0; tx < tiles_x; ++tx) {
      const int pixels =
          (tile_edge(tx + 1, width, tiles_x) - tile_edge(tx, width, tiles_x)) * (y1 - y0);
      equalising_table(histograms[static_cast<size_t>(tx)].data(), pixels, clip_limit,
                       tables.emplace_back().data());
    }
  }
  std::vector<TileNeighbours> columns;
  for (int x = 0; x < width; ++x) columns.push_back(tile_neighbours(x, width, tiles_x));
  for (int y = 0; y < height; ++y) {
    const TileNeighbours rows = tile_neighbours(y, height, tiles_y);
    uint8_t* row = picture.row(channel, y);
    for (int x = 0; x < width; ++x) {
      row[x] =
          equalised(tables.front().data(), tiles_x, columns[static_cast<size_t>(x)], rows, row[x]);
    }
  }
}

}  // namespace yoload
