// The parts of an imaginary circuit board: where they sit and how the copper between them runs.
//
// A few designs stand for the products on a line; every picture of a design shows the same layout.
// Units: the board is 800 wide, its height follows the picture's shape.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "yoload/drawing.h"

namespace yoload::cli {

inline constexpr float kBoardWidth = 800;

enum class PartKind : uint8_t {
  resistor,
  capacitor,  // two pads, a body between them
  chip,       // pins on the left and right side
  quad,       // pins on all four sides
  can,        // round electrolytic capacitor
  connector,  // a row of golden fingers
};

struct Part {
  PartKind kind = PartKind::resistor;
  Point centre, half;    ///< body with pins
  bool upright = false;  ///< resistor, capacitor: pads above each other
  std::string label;     ///< as printed beside it: "R12"
};

/// A copper track with a through-plated hole at both ends.
struct Track {
  std::vector<Point> points;
  float width = 3;
};

struct BoardLayout {
  float height = 600;
  Rgb mask_colour;  ///< solder mask
  std::vector<Part> parts;
  std::vector<Track> tracks;
  std::vector<Point> holes;  ///< for screws
  std::string title;
};

/// A pure function of its arguments.
BoardLayout make_layout(uint64_t seed, int design, float height);

}  // namespace yoload::cli
