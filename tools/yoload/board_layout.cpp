// SPDX-License-Identifier: Apache-2.0
#include "yoload/board_layout.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "yoload/dice.h"

namespace yoload::cli {
namespace {

constexpr float kCell = 8;  ///< pitch of the routing grid

/// Which grid cells are taken, by parts and by tracks: what makes tracks keep clear of each other.
class RoutingGrid {
 public:
  explicit RoutingGrid(float height)
      : columns_(static_cast<int>(kBoardWidth / kCell)),
        rows_(static_cast<int>(height / kCell)),
        taken_(static_cast<size_t>(columns_) * static_cast<size_t>(rows_), 0) {}

  bool free(int x, int y) const {
    return x >= 2 && y >= 2 && x < columns_ - 2 && y < rows_ - 2 && !taken_[at(x, y)];
  }
  void take(int x, int y) { taken_[at(x, y)] = 1; }
  bool free_box(Point centre, Point half) const {
    bool all = true;
    visit(centre, half, [&](int x, int y) { all = all && free(x, y); });
    return all;
  }
  void take_box(Point centre, Point half) {
    visit(centre, half, [&](int x, int y) {
      if (x >= 0 && y >= 0 && x < columns_ && y < rows_) take(x, y);
    });
  }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  static Point centre_of(int x, int y) {
    return {(static_cast<float>(x) + 0.5f) * kCell, (static_cast<float>(y) + 0.5f) * kCell};
  }

 private:
  size_t at(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(columns_) + static_cast<size_t>(x);
  }
  template <class Visit>
  void visit(Point centre, Point half, const Visit& visit_cell) const {
    const auto cell = [](float v) { return static_cast<int>(std::floor(v / kCell)); };
    for (int y = cell(centre.y - half.y); y <= cell(centre.y + half.y); ++y) {
      for (int x = cell(centre.x - half.x); x <= cell(centre.x + half.x); ++x) visit_cell(x, y);
    }
  }
  int columns_, rows_;
  std::vector<uint8_t> taken_;
};

class LayoutMaker {
 public:
  LayoutMaker(uint64_t seed, int design, float height)
      : dice_(seed, 1000 + static_cast<uint64_t>(design)), grid_(height) {
    static constexpr std::array<Rgb, 5> kMasks = {
        {{22, 88, 56}, {24, 62, 112}, {30, 104, 48}, {18, 74, 78}, {40, 46, 44}}};
    layout_.height = height;
    layout_.mask_colour = kMasks[static_cast<size_t>(design) % kMasks.size()];
    layout_.title =
        fmt::format("YL-{:02} REV {}", 10 + design, static_cast<char>('A' + design % 5));
  }

  BoardLayout make() {
    const float far_y = layout_.height - 28;
    for (Point hole : {Point{28, 28}, Point{kBoardWidth - 28, 28}, Point{28, far_y},
                       Point{kBoardWidth - 28, far_y}}) {
      layout_.holes.push_back(hole);
      grid_.take_box(hole, {24, 24});
    }
    const bool top = dice_.chance(0.5f);
    place_at(PartKind::connector, {kBoardWidth / 2, top ? 16.0f : layout_.height - 16},
             {dice_.range(120, 190), 14});
    place(PartKind::quad, 1 + dice_.pick(0, 1), [&] {
      const float half = dice_.range(46, 66);
      return Point{half, half};
    });
    place(PartKind::chip, dice_.pick(3, 4), [&] {
      return Point{dice_.range(26, 34), dice_.range(28, 46)};
    });
    place(PartKind::can, dice_.pick(2, 3), [&] {
      const float half = dice_.range(17, 25);
      return Point{half, half};
    });
    place_rows(dice_.pick(6, 8));
    route(240);
    return std::move(layout_);
  }

 private:
  void place_at(PartKind kind, Point centre, Point half, bool upright = false) {
    // Cans count with the capacitors, quads with the chips: no two parts share a label.
    static constexpr std::array<char, 6> kPrefix = {'R', 'C', 'U', 'U', 'C', 'J'};
    const char prefix = kPrefix[static_cast<size_t>(kind)];
    const int number = ++numbers_[static_cast<size_t>(prefix - 'A')];
    layout_.parts.push_back({kind, centre, half, upright, fmt::format("{}{}", prefix, number)});
    grid_.take_box({centre.x, centre.y - 5}, {half.x + 10, half.y + 15});  // 10 above for the label
  }

  template <class Size>
  void place(PartKind kind, int count, const Size& size) {
    for (int tries = 0; count > 0 && tries < 400; ++tries) {
      const Point half = size();
      const Point centre = {dice_.range(50, kBoardWidth - 50),
                            dice_.range(60, layout_.height - 60)};
      if (!grid_.free_box(centre, {half.x + 14, half.y + 16})) continue;
      place_at(kind, centre, half);
      --count;
    }
  }

  /// Small parts stand in rows, as a designer would set them.
  void place_rows(int rows) {
    for (int tries = 0; rows > 0 && tries < 600; ++tries) {
      const bool upright = dice_.chance(0.6f);
      const int count = dice_.pick(3, 6);
      const Point half = upright ? Point{7, 13} : Point{13, 7};
      const float pitch = upright ? 26 : 40;
      const Point first = {dice_.range(50, kBoardWidth - 50 - pitch * static_cast<float>(count)),
                           dice_.range(60, layout_.height - 60)};
      const float reach = pitch * static_cast<float>(count - 1) / 2;
      if (!grid_.free_box({first.x + reach, first.y}, {reach + half.x + 10, half.y + 16})) continue;
      const PartKind kind = dice_.chance(0.5f) ? PartKind::resistor : PartKind::capacitor;
      for (int i = 0; i < count; ++i)
        place_at(kind, {first.x + pitch * static_cast<float>(i), first.y}, half, upright);
      --rows;
    }
  }

  /// Random walks that run straight, bend by 45 degrees and never touch a part or another track.
  void route(int attempts) {
    static constexpr std::array<std::array<int, 2>, 8> kSteps = {
        {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}};
    for (int i = 0; i < attempts; ++i) {
      int x = dice_.pick(2, grid_.columns() - 3), y = dice_.pick(2, grid_.rows() - 3);
      if (!grid_.free(x, y)) continue;
      int direction = 2 * dice_.pick(0, 3);
      int straight = dice_.pick(3, 16);
      std::vector<std::array<int, 2>> cells = {{x, y}};
      Track track;
      track.width = dice_.chance(0.12f) ? 5.0f : 2.4f;
      track.points.push_back(RoutingGrid::centre_of(x, y));
      const int longest = dice_.pick(12, 60);
      for (int length = 0; length < longest; ++length) {
        if (straight-- == 0) {
          // A diagonal is short and leads back to a straight run.
          const bool diagonal = direction % 2 == 1;
          direction = (direction + (dice_.chance(0.5f) ? 1 : 7)) % 8;
          straight = diagonal ? dice_.pick(5, 18) : dice_.pick(2, 5);
          track.points.push_back(RoutingGrid::centre_of(x, y));
        }
        const auto& step = kSteps[static_cast<size_t>(direction)];
        const int nx = x + step[0], ny = y + step[1];
        if (!grid_.free(nx, ny)) break;
        if (step[0] != 0 && step[1] != 0 && (!grid_.free(nx, y) || !grid_.free(x, ny))) break;
        x = nx;
        y = ny;
        cells.push_back({x, y});
      }
      if (cells.size() < 6) continue;
      for (const auto& cell : cells) grid_.take(cell[0], cell[1]);
      track.points.push_back(RoutingGrid::centre_of(x, y));
      layout_.tracks.push_back(std::move(track));
    }
  }

  Dice dice_;
  RoutingGrid grid_;
  BoardLayout layout_;
  std::array<int, 26> numbers_ = {};  // by first letter of the label
};

}  // namespace

BoardLayout make_layout(uint64_t seed, int design, float height) {
  return LayoutMaker(seed, design, height).make();
}

}  // namespace yoload::cli
