// SPDX-License-Identifier: Apache-2.0
#include "yoload/preview_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/dataset_index.h"
#include "yoload/batch_view.h"

namespace yoload::cli {
namespace {

constexpr Rgb kGround = {22, 24, 29}, kInk = {236, 238, 242}, kFaint = {146, 152, 164};
constexpr float kTitleCap = 15, kCaptionCap = 8, kLegendCap = 9;
constexpr int kMargin = 24, kGap = 14, kHeader = 84, kCaption = 22;

struct Cell {
  RgbImage image;
  std::string caption;
};

/// Shortens `text` in its middle until it fits.
std::string fit(std::string text, float cap_px, float width_px) {
  if (text_width(text, cap_px) <= width_px) return text;
  while (text.size() > 8 && text_width(text, cap_px) > width_px) text.erase(text.size() / 2, 1);
  return text.replace(text.size() / 2, 2, "..");
}

void draw_legend(const std::map<int, int>& seen, const std::vector<std::string>& names,
                 RgbImage* grid) {
  float x = kMargin;
  const float y = 58;
  // Most frequent classes first; what does not fit the line is counted.
  std::vector<std::pair<int, int>> order(seen.begin(), seen.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t i = 0; i < order.size(); ++i) {
    const auto cls = static_cast<size_t>(std::max(0, order[i].first));
    const std::string text = fmt::format(
        "{} {}", cls < names.size() ? names[cls] : fmt::format("class {}", cls), order[i].second);
    const float width = 18 + text_width(text, kLegendCap) + 16;
    if (x + width > static_cast<float>(grid->width_px - kMargin - 90)) {
      draw_text(grid, {x, y}, fmt::format("+{} more", order.size() - i), kLegendCap, {kFaint});
      return;
    }
    fill_box(grid, {x + 6, y + kLegendCap / 2}, {6, 6}, 0, 3, {class_colour(order[i].first)});
    draw_text(grid, {x + 18, y}, text, kLegendCap, {kInk});
    x += width;
  }
}

/// The pictures of a grid, and how often each class is on them.
struct Cells {
  std::vector<Cell> list;
  std::map<int, int> seen;
};

void add_cells(const Batch& batch, const DatasetIndex& index, const GridOptions& options,
               Cells* cells) {
  for (int i = 0; i < batch.size && static_cast<int>(cells->list.size()) < options.count; ++i) {
    Cell cell;
    cell.image = shrink_to(sample_image(batch, i), options.tile_px);
    draw_labels(batch, i, index.names, &cell.image);
    const std::vector<DrawnObject> objects = sample_objects(batch, i);
    for (const DrawnObject& object : objects) ++cells->seen[object.cls];
    const SampleInfo& info = batch.samples[static_cast<size_t>(i)];
    cell.caption = fmt::format(
        "{}  {}  {} object{}{}", info.position,
        std::filesystem::path(index.relative_path(info.record)).filename().string(), objects.size(),
        objects.size() == 1 ? "" : "s", info.replaced ? "  replaced" : "");
    cells->list.push_back(std::move(cell));
  }
}

RgbImage compose(const Cells& cells, const DatasetIndex& index, const GridOptions& options) {
  const int n = std::max(1, static_cast<int>(cells.list.size()));
  const int columns = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(n))));
  const int rows = (n + columns - 1) / columns;
  // Rect batches have tiles of several shapes: the largest sets the pitch, the others are centred.
  int tile_w = 1, tile_h = 1;
  for (const Cell& cell : cells.list) {
    tile_w = std::max(tile_w, cell.image.width_px);
    tile_h = std::max(tile_h, cell.image.height_px);
  }
  RgbImage grid(2 * kMargin + columns * tile_w + (columns - 1) * kGap,
                kHeader + rows * (tile_h + kCaption + kGap) - kGap + kMargin, kGround);
  draw_text(&grid, {kMargin, 24},
            fit(options.title, kTitleCap, static_cast<float>(grid.width_px - 2 * kMargin)),
            kTitleCap, {kInk});
  draw_legend(cells.seen, index.names, &grid);
  for (size_t i = 0; i < cells.list.size(); ++i) {
    const int column = static_cast<int>(i) % columns, row = static_cast<int>(i) / columns;
    const int x = kMargin + column * (tile_w + kGap),
              y = kHeader + row * (tile_h + kCaption + kGap);
    const Cell& cell = cells.list[i];
    paste(cell.image, x + (tile_w - cell.image.width_px) / 2,
          y + (tile_h - cell.image.height_px) / 2, &grid);
    draw_text(&grid, {static_cast<float>(x), static_cast<float>(y + tile_h + 7)},
              fit(cell.caption, kCaptionCap, static_cast<float>(tile_w)), kCaptionCap, {kFaint});
  }
  return grid;
}

}  // namespace

std::string grid_title(const LoaderOptions& options, uint32_t epoch) {
  // "data.yaml" says little: its folder's name does.
  const std::filesystem::path data = std::filesystem::absolute(options.data);
  const std::string shown =
      data.stem() == "data" ? data.parent_path().filename().string() : data.filename().string();
  return fmt::format("{}   {}   epoch {}   {} px", shown, options.split, epoch, options.imgsz);
}

RgbImage make_preview_grid(Loader* loader, const GridOptions& options) {
  Cells cells;
  loader->set_epoch(options.epoch);
  Batch batch;
  while (static_cast<int>(cells.list.size()) < options.count && loader->next(&batch)) {
    loader->to_host(&batch);
    add_cells(batch, loader->index(), options, &cells);
  }
  return compose(cells, loader->index(), options);
}

RgbImage make_batch_grid(const Batch& batch, const DatasetIndex& index,
                         const GridOptions& options) {
  Cells cells;
  add_cells(batch, index, options, &cells);
  return compose(cells, index, options);
}

}  // namespace yoload::cli
