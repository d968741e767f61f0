// What our own JPEG decoder knows of a picture before its first coefficient, and how coefficients
// travel from the entropy half (coefficient_stream) to the pixel half (pixel_rows).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace yoload::decode::jpeg {

/// What the components of a frame are.
enum class ColourModel : uint8_t { gray, ycc, rgb };

struct FrameComponent {
  int h = 1;  ///< horizontal sampling factor, 1 or 2; 1 for the only component of a gray picture
  int v = 1;  ///< vertical sampling factor, likewise
  /// Blocks a row and rows of blocks in whole MCUs: `mcus_x * h` and `mcus_y * v`.
  int blocks_x = 0;
  int blocks_y = 0;
  /// Samples that the picture really has: ceil(width * h / max_h), ceil(height * v / max_v).
  int width = 0;
  int height = 0;
  /// Quantisation table, natural (row-major) order, values 1..65535.
  std::array<uint16_t, 64> quantisation{};
};

/// A baseline or extended-sequential Huffman frame of 8-bit samples in one interleaved scan.
struct Frame {
  int width_px = 0;
  int height_px = 0;
  ColourModel colour = ColourModel::gray;
  int components = 1;  ///< 1 or 3
  std::array<FrameComponent, 3> component{};
  int max_h = 1;
  int max_v = 1;
  int mcus_x = 0;  ///< MCUs a row
  int mcus_y = 0;
  int restart_interval = 0;  ///< MCUs between restart markers, 0: none
};

/// One row of MCUs as the entropy half hands it over. Component c has v * blocks_x blocks in
/// row-major order; a block is 64 coefficients in natural order, not dequantised. `last[c][b]` is
/// the zig-zag place of the block's last coefficient that is coded (0: the DC alone), so everything
/// behind it is zero.
struct McuRow {
  std::array<const int16_t*, 3> blocks{};  ///< each aligned to 64 bytes
  std::array<const uint8_t*, 3> last{};
};

}  // namespace yoload::decode::jpeg
