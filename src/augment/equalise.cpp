// SPDX-License-Identifier: Apache-2.0
#include "augment/equalise.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace yoload {
namespace {

using Histogram = std::array<int, 256>;
using LevelTable = std::array<uint8_t, 256>;

/// Clips a histogram, spreads the excess evenly, and turns it into a table of levels.
LevelTable equalising_table(Histogram histogram, int pixels, double clip_limit) {
  const int limit = std::max(1, static_cast<int>(clip_limit * pixels / 256));
  int excess = 0;
  for (int& count : histogram) {
    excess += std::max(0, count - limit);
    count = std::min(count, limit);
  }
  for (int& count : histogram) count += excess / 256;
  int rest = excess % 256;
  const size_t step = static_cast<size_t>(std::max(1, 256 / std::max(1, rest)));
  for (size_t level = 0; level < 256 && rest > 0; level += step, --rest) ++histogram[level];
  LevelTable table{};
  int64_t sum = 0;
  for (size_t level = 0; level < 256; ++level) {
    sum += histogram[level];
    table[level] = static_cast<uint8_t>(std::min<int64_t>(255, (sum * 255 + pixels / 2) / pixels));
  }
  return table;
}

/// The two tiles whose centres enclose a pixel, along one axis.
struct Neighbours {
  int first = 0, second = 0;
  int weight_q11 = 0;  ///< of the second
};

Neighbours neighbours(int i, int pixels, int tiles) {
  // Position in tiles from the first centre, Q11: (i + 1/2) * tiles / pixels - 1/2. OpenCV's i has
  // no half; its tables are blended half a pixel off their centres, and so are these.
  const auto at = static_cast<int>((int64_t{i} << 11) * tiles / pixels) - (1 << 10);
  if (at < 0) return {0, 0, 0};
  const int first = std::min(at >> 11, tiles - 1);
  return {first, std::min(first + 1, tiles - 1), at & 0x7ff};
}

}  // namespace

void equalise_adaptively(MutableImageView picture, int channel, int tiles_per_side,
                         double clip_limit) {
  const int width = picture.width_px, height = picture.height_px;
  const int tiles_x = std::min(tiles_per_side, width), tiles_y = std::min(tiles_per_side, height);
  const auto edge = [](int tile, int pixels, int tiles) { return pixels * tile / tiles; };
  std::vector<LevelTable> tables;
  std::vector<Histogram> histograms(static_cast<size_t>(tiles_x));
  for (int ty = 0; ty < tiles_y; ++ty) {
    const int y0 = edge(ty, height, tiles_y), y1 = edge(ty + 1, height, tiles_y);
    std::fill(histograms.begin(), histograms.end(), Histogram{});
    for (int y = y0; y < y1; ++y) {
      const uint8_t* row = picture.row(channel, y);
      for (int tx = 0; tx < tiles_x; ++tx) {
        Histogram& histogram = histograms[static_cast<size_t>(tx)];
        for (int x = edge(tx, width, tiles_x); x < edge(tx + 1, width, tiles_x); ++x) {
          ++histogram[row[x]];
        }
      }
    }
    for (int tx = 0; tx < tiles_x; ++tx) {
      const int pixels = (edge(tx + 1, width, tiles_x) - edge(tx, width, tiles_x)) * (y1 - y0);
      tables.push_back(equalising_table(histograms[static_cast<size_t>(tx)], pixels, clip_limit));
    }
  }
  std::vector<Neighbours> columns;
  for (int x = 0; x < width; ++x) columns.push_back(neighbours(x, width, tiles_x));
  for (int y = 0; y < height; ++y) {
    const Neighbours rows = neighbours(y, height, tiles_y);
    const LevelTable* upper = &tables[static_cast<size_t>(rows.first * tiles_x)];
    const LevelTable* lower = &tables[static_cast<size_t>(rows.second * tiles_x)];
    uint8_t* row = picture.row(channel, y);
    for (int x = 0; x < width; ++x) {
      const Neighbours& column = columns[static_cast<size_t>(x)];
      const uint8_t level = row[x];
      const auto across = [&](const LevelTable* of_row) {
        return of_row[column.first][level] * (2048 - column.weight_q11) +
               of_row[column.second][level] * column.weight_q11;
      };
      row[x] = static_cast<uint8_t>((across(upper) * (2048 - rows.weight_q11) +
                                     across(lower) * rows.weight_q11 + (1 << 21)) >>
                                    22);
    }
  }
}

}  // namespace yoload
