// Photographs of imaginary circuit boards with known defects: the picture and its boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "yoload/rgb_image.h"

namespace yoload::cli {

inline constexpr std::array<const char*, 4> kDefectNames = {"scratch", "spot", "missing_part",
                                                            "solder_bridge"};

/// A box around a defect, pixels.
struct Defect {
  int cls = 0;
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

struct BoardPhoto {
  RgbImage image;
  std::vector<Defect> defects;
};

/// Picture `number` of a series: a pure function of its arguments, about one board in ten is
/// flawless. Thread-safe. Details scale with the width, so that a 12-megapixel photo shows the same
/// boards.
BoardPhoto draw_board(uint64_t seed, int number, int width_px, int height_px);

}  // namespace yoload::cli
