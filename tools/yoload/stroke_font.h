// A small stroke font for captions and for the print on drawn boards: no font file needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace yoload::cli {

inline constexpr int kCapUnits = 6;      ///< height of a capital in the units of the grid
inline constexpr int kSpacingUnits = 2;  ///< between two glyphs

/// `strokes`: polylines divided by blanks, each point two digits x y; y grows downwards, 0 is the
/// top of a capital, 6 the base line, 8 the lowest descender. `width`: x units.
struct Glyph {
  int width = 4;
  std::string_view strokes;
};

/// Glyph of a printable ASCII character; a small box for every other byte.
Glyph glyph_of(char c);

}  // namespace yoload::cli
