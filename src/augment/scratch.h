// The buffers behind RenderScratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "augment/run.h"
#include "core/buffer.h"
#include "core/image.h"

namespace yoload {

/// Vector kernels read and write up to this many entries past the end of a row.
inline constexpr size_t kRowSlack = 128;

struct RenderScratch::Buffers {
  Buffer sample_bytes;            ///< one whole sample, for filters and the reference executor
  Buffer filter_bytes;            ///< the filters' second picture
  std::vector<int16_t> blended;   ///< one channel's row of a canvas in Q7
  std::vector<uint8_t> pad_row;   ///< a canvas row of 114
  std::vector<uint8_t> rows;      ///< output rows before they are stored
  std::vector<uint8_t> mix_rows;  ///< the second layer's

  /// A picture of the given size over sample_bytes; the content is what was left there.
  MutableImageView sample(int width_px, int height_px, int channels) {
    return picture(&sample_bytes, width_px, height_px, channels);
  }
  MutableImageView filtered(int width_px, int height_px, int channels) {
    return picture(&filter_bytes, width_px, height_px, channels);
  }

 private:
  static MutableImageView picture(Buffer* buffer, int width_px, int height_px, int channels) {
    const size_t row = (static_cast<size_t>(width_px) + 63) / 64 * 64;
    const size_t plane = row * static_cast<size_t>(height_px);
    const size_t bytes = plane * static_cast<size_t>(channels);
    if (buffer->capacity() < bytes) *buffer = Buffer::allocate(bytes);
    return {buffer->data(), width_px, height_px, channels, row, plane};
  }
};

}  // namespace yoload
