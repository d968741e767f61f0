// Takes decoded rows in file order and puts them upright and planar into the picture.
//
// Orientations 1 and 4 are written in place, 2 and 3 through one mirrored row, 5 to 8 through
// blocks of 16 rows that are transposed while they are in the L1 cache: no orientation costs a
// second pass over the picture. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.h"
#include "yoload/jpeg.h"

namespace yoload::decode {

/// How the bytes of one decoded row lie in memory.
enum class Pixels : uint8_t { gray, gray_alpha, rgb, rgba, bgr, bgra };
int bytes_per_pixel(Pixels layout);

class RowSink {
 public:
  /// Rows that may be filled before they are committed, and their alignment in the transposing
  /// modes.
  static constexpr int kBlockRows = 16;

  /// `width_px` x `height_px` is the stored size; `upright` must have it after the orientation.
  void begin(MutableImageView upright, int orientation, int width_px, int height_px);

  /// The same into memory of the caller, for pictures that are stored upright. Rows pass through a
  /// buffer: the target has neither padding nor, if it is interleaved, planes.
  void begin(const PixelTarget& target, int width_px, int height_px, int channels);

  int width_px() const { return width_px_; }
  int height_px() const { return height_px_; }
  int channels() const { return image_.channels; }

  /// Where row `y` of a plane has to be written; padded to a multiple of 16 bytes, which may be
  /// overwritten. Valid until the row is committed. Rows y .. y+15-(y%16) may be open at once.
  uint8_t* row(int channel, int y);
  /// Row `y` is complete in all channels. Rows come in rising order from 0, without gaps.
  void commit(int y);

  /// Writes and commits a row of interleaved pixels. Alpha is dropped, gray is repeated for three
  /// channels, colour becomes luma for one.
  void put(int y, const uint8_t* pixels, Pixels layout);
  /// The same for any number of samples a pixel: as many as the picture has channels are stored as
  /// they are, otherwise 1 to 4 mean gray, gray + alpha, RGB, RGBA.
  void put_samples(int y, const uint8_t* pixels, int samples);

  int rows_done() const { return rows_done_; }
  /// Commits what is missing as black, so that no picture shows memory from elsewhere.
  void blacken_rest();

 private:
  void place_row(int y);
  void put_into_target(int y);
  void transpose_block(int first_row, int rows);

  MutableImageView image_;
  PixelTarget target_;  // data is null while there is none
  int orientation_ = 1;
  int width_px_ = 0;
  int height_px_ = 0;
  int rows_done_ = 0;
  size_t block_stride_bytes_ = 0;
  std::vector<uint8_t> block_;  // channels, kBlockRows, block_stride_bytes_
};

/// Bytes that a sink allocates beside the picture.
size_t row_sink_bytes(int width_px, int channels);

}  // namespace yoload::decode
