// Reads 8- and 16-bit gray, RGB and multi-channel TIFF pictures row by row, as stored.
//
// libtiff's own conversion to RGBA rounds 16 bits differently and multiplies colours by alpha, both
// of which other loaders do not do. What this reader does not take goes through that conversion.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "decode/tiff/tiff_file.h"

namespace yoload::decode {

class TiffSamples {
 public:
  explicit TiffSamples(TiffFile& file);

  /// 8 or 16 unsigned bits, gray (either polarity) or RGB, one or more samples.
  bool suits() const { return suits_; }
  int width_px() const { return static_cast<int>(width_px_); }
  int height_px() const { return static_cast<int>(height_px_); }
  int samples() const { return samples_; }
  int bits() const { return bits_; }
  /// Memory for a band of rows: one strip, or one row of tiles.
  uint64_t working_bytes() const;

  /// Calls `row(y, bytes)` with interleaved samples in rising order until it returns false. Returns
  /// the number of rows delivered; fewer than the height means damage, see TiffFile::error().
  int read(const std::function<bool(int y, const uint8_t* row)>& row);

 private:
  bool read_band(uint32_t first_row, uint32_t rows);
  bool read_block(uint32_t x, uint32_t y, uint32_t plane, uint32_t columns, uint32_t rows);

  TiffFile& file_;
  uint32_t width_px_ = 0;
  uint32_t height_px_ = 0;
  int samples_ = 1;
  int bits_ = 1;
  bool suits_ = false;
  bool tiled_ = false;
  bool separate_ = false;
  bool inverted_ = false;
  uint32_t block_width_px_ = 0;
  uint32_t block_height_px_ = 0;
  std::vector<uint8_t> band_;   // rows, W, samples
  std::vector<uint8_t> block_;  // one strip or tile as libtiff delivers it
};

}  // namespace yoload::decode
