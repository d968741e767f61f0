// SPDX-License-Identifier: Apache-2.0
#include "augment/mask.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "augment/exact_math.h"

namespace yoload {
namespace {

struct Cell {
  int x, y;
};

/// Cells that a filled polygon can touch, cut to the picture; both ends inclusive.
struct CellRange {
  int x0, y0, x1, y1;
};

CellRange cell_range(std::span<const float> polygon, int width_px, int height_px) {
  CellRange range{width_px - 1, height_px - 1, 0, 0};
  for (size_t i = 0; i + 1 < polygon.size(); i += 2) {
    const int x = static_cast<int>(std::clamp(polygon[i], 0.0f, width_px - 1.0f));
    const int y = static_cast<int>(std::clamp(polygon[i + 1], 0.0f, height_px - 1.0f));
    range = {std::min(range.x0, x), std::min(range.y0, y), std::max(range.x1, x),
             std::max(range.y1, y)};
  }
  return range;
}

/// The two samples that bilinear shrinking blends for one mask cell, half pixels centred; the
/// second one weighs weight / (2 * cells).
struct Tap {
  int first, second;
  int64_t weight;
};

std::vector<Tap> taps(int full_px, int cells) {
  std::vector<Tap> all;
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t position =
        std::max<int64_t>((2 * i + 1) * full_px - cells, 0);  // in 1 / (2 * cells)
    const int first = static_cast<int>(position / (2 * cells));
    all.push_back({first, std::min(first + 1, full_px - 1), position % (2 * cells)});
  }
  return all;
}

/// Outline between two cells: Bresenham from the left one, ties staying on its side. Equal to
/// cv2.fillPoly's outline in every pixel of random polygons; all other tie rules were not.
void draw_line(Cell a, Cell b, int32_t value, int width_px, int height_px, int32_t* map) {
  if (a.x > b.x) std::swap(a, b);
  const long long dx = b.x - a.x, dy = b.y - a.y, steps = std::max(std::abs(dx), std::abs(dy));
  const auto along = [&](long long delta, long long i) {
    if (steps == 0) return 0;
    const long long distance = (2 * std::abs(delta) * i + steps - 1) / (2 * steps);
    return static_cast<int>(delta < 0 ? -distance : distance);
  };
  for (long long i = 0; i <= steps; ++i) {
    const int x = a.x + along(dx, i), y = a.y + along(dy, i);
    if (x >= 0 && x < width_px && y >= 0 && y < height_px) map[y * width_px + x] = value;
  }
}

}  // namespace

void fill_polygon(std::span<const float> polygon, int32_t value, int width_px, int height_px,
                  int32_t* map) {
  const size_t count = polygon.size() / 2;
  if (count == 0) return;
  std::vector<Cell> cells(count);
  const auto cell = [](float v, int limit) {
    return static_cast<int>(std::clamp(v, -1.0f, limit + 1.0f));
  };
  int top = height_px, bottom = -1;
  for (size_t i = 0; i < count; ++i) {
    cells[i] = {cell(polygon[2 * i], width_px), cell(polygon[2 * i + 1], height_px)};
    top = std::min(top, cells[i].y), bottom = std::max(bottom, cells[i].y);
  }
  std::vector<double> crossings;
  for (int y = std::max(top, 0); y <= std::min(bottom, height_px - 1); ++y) {
    crossings.clear();
    for (size_t i = 0; i < count; ++i) {
      Cell a = cells[i], b = cells[i + 1 == count ? 0 : i + 1];
      if (a.y == b.y) continue;
      if (a.y > b.y) std::swap(a, b);
      if (y < a.y || y >= b.y) continue;  // half-open, so that a corner counts once
      crossings.push_back(a.x + static_cast<double>(b.x - a.x) * (y - a.y) / (b.y - a.y));
    }
    std::sort(crossings.begin(), crossings.end());
    for (size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const int from = std::max(static_cast<int>(-exact::floor_to_int(-crossings[i])), 0);
      const int to =
          std::min(static_cast<int>(exact::floor_to_int(crossings[i + 1])), width_px - 1);
      for (int x = from; x <= to; ++x) map[y * width_px + x] = value;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    draw_line(cells[i], cells[i + 1 == count ? 0 : i + 1], value, width_px, height_px, map);
  }
}

void rasterise_masks(int out_width_px, int out_height_px, int mask_ratio, bool overlap,
                     SampleLabels* labels) {
  mask_ratio = std::max(mask_ratio, 1);
  const int w = std::max(out_width_px / mask_ratio, 1), h = std::max(out_height_px / mask_ratio, 1);
  const size_t cells = static_cast<size_t>(w) * static_cast<size_t>(h);
  labels->mask_width_px = w;
  labels->mask_height_px = h;
  const size_t count = labels->size();

  // The reference fills at full size and then shrinks bilinearly, half pixels centred; so does
  // this.
  const int full_w = std::max(out_width_px, 1), full_h = std::max(out_height_px, 1);
  std::vector<int32_t> full(static_cast<size_t>(full_w) * static_cast<size_t>(full_h), 0);
  std::vector<std::vector<uint32_t>> covered(count);  // mask cells of each object
  const std::vector<Tap> columns = taps(full_w, w), rows = taps(full_h, h);
  for (size_t i = 0; i < count; ++i) {
    const auto first = labels->polygon_offsets[i], last = labels->polygon_offsets[i + 1];
    const std::span<const float> polygon(labels->polygons.data() + 2 * first, 2 * (last - first));
    fill_polygon(polygon, 1, full_w, full_h, full.data());
    const CellRange range = cell_range(polygon, full_w, full_h);
    const auto at = [&](int x, int y) -> int64_t {
      return full[static_cast<size_t>(y) * static_cast<size_t>(full_w) + static_cast<size_t>(x)];
    };
    for (int y = 0; y < h; ++y) {
      const Tap& row = rows[static_cast<size_t>(y)];
      if (row.second < range.y0 || row.first > range.y1) continue;
      for (int x = 0; x < w; ++x) {
        const Tap& column = columns[static_cast<size_t>(x)];
        if (column.second < range.x0 || column.first > range.x1) continue;
        const auto blend = [&](int at_y) {
          return at(column.first, at_y) * (2 * w - column.weight) +
                 at(column.second, at_y) * column.weight;
        };
        const int64_t sum =
            blend(row.first) * (2 * h - row.weight) + blend(row.second) * row.weight;
        if (sum >= int64_t{2} * w * h)
          covered[i].push_back(static_cast<uint32_t>(y * w + x));  // one half
      }
    }
    for (int y = range.y0; y <= range.y1; ++y) {
      std::fill_n(full.begin() + static_cast<std::ptrdiff_t>(y) * full_w + range.x0,
                  std::max(range.x1 - range.x0 + 1, 0), 0);
    }
  }

  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  if (overlap) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return covered[a].size() > covered[b].size(); });
  }
  // An object may also vanish under smaller ones painted later, so survivors are known only at the
  // end.
  std::vector<int32_t> owner(overlap ? cells : 0, -1);
  std::vector<uint32_t> visible(count, 0);
  for (const size_t object : order) {
    visible[object] = static_cast<uint32_t>(covered[object].size());
    if (!overlap) continue;
    for (const uint32_t cell : covered[object]) {
      if (owner[cell] >= 0) --visible[static_cast<size_t>(owner[cell])];
      owner[cell] = static_cast<int32_t>(object);
    }
  }
  SampleLabels kept;
  kept.mask_width_px = w, kept.mask_height_px = h;
  kept.dropped = labels->dropped;
  kept.polygon_offsets.push_back(0);
  std::vector<int32_t> number(count, 0);
  const size_t box_values = count == 0 ? 0 : labels->bboxes.size() / count;
  int32_t next = 0;
  for (const size_t i : order) {
    if (visible[i] == 0) {
      ++kept.dropped.empty_mask;
      continue;
    }
    number[i] = ++next;
    kept.cls.push_back(labels->cls[i]);
    const auto box = labels->bboxes.begin() + static_cast<std::ptrdiff_t>(i * box_values);
    kept.bboxes.insert(kept.bboxes.end(), box, box + static_cast<std::ptrdiff_t>(box_values));
    const auto first = static_cast<std::ptrdiff_t>(2 * labels->polygon_offsets[i]);
    const auto last = static_cast<std::ptrdiff_t>(2 * labels->polygon_offsets[i + 1]);
    kept.polygons.insert(kept.polygons.end(), labels->polygons.begin() + first,
                         labels->polygons.begin() + last);
    kept.polygon_offsets.push_back(kept.polygons.size() / 2);
    if (!overlap) {
      kept.mask.resize(kept.mask.size() + cells, 0);
      int32_t* map = kept.mask.data() + kept.mask.size() - cells;
      for (const uint32_t cell : covered[i]) map[cell] = 1;
    }
  }
  if (overlap) {
    kept.mask.resize(cells);
    for (size_t i = 0; i < cells; ++i) {
      kept.mask[i] = owner[i] < 0 ? 0 : number[static_cast<size_t>(owner[i])];
    }
  }
  *labels = std::move(kept);
}

}  // namespace yoload
