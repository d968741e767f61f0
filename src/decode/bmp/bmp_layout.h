// The header of a BMP file: where the pixels are and how they are packed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/status.h"
#include "decode/byte_source.h"

namespace yoload::decode {

enum class BmpCoding : uint8_t { plain, rle8, rle4 };

/// Where one colour sits in a 16- or 32-bit pixel.
struct BmpField {
  uint32_t mask = 0;
  int shift = 0;
  uint32_t max = 0;  ///< largest value after shifting
};

struct BmpLayout {
  int width_px = 0;
  int height_px = 0;
  bool top_down = false;
  int bits = 0;  ///< per pixel: 1, 2, 4, 8, 16, 24, 32
  BmpCoding coding = BmpCoding::plain;
  uint64_t pixels_start = 0;
  uint64_t row_bytes = 0;                             ///< padded to four bytes
  std::array<BmpField, 3> fields;                     ///< R, G, B
  std::array<std::array<uint8_t, 3>, 256> colours{};  ///< palette as R, G, B; black where it ends
  bool is_gray = false;                               ///< palette of grays only
};

Status read_bmp_layout(ByteSource& source, BmpLayout* layout);

}  // namespace yoload::decode
