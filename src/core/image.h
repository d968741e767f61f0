// Planar 8-bit pictures: what the decoders write, the pool keeps and the executors read.
//
// Planar, because the executors blend whole rows of one channel at a time and because three planes
// cost a quarter less memory and bandwidth than four-byte pixels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/buffer.h"

namespace yoload {

/// Borrowed pixels. data points at C,H,W bytes; three channels are R, G, B in this order.
/// kReadPadding bytes behind the last row may be read.
template <class Byte>
struct BasicImageView {
  Byte* data = nullptr;
  int width_px = 0;
  int height_px = 0;
  int channels = 0;
  size_t row_stride_bytes = 0;
  size_t plane_stride_bytes = 0;

  Byte* row(int channel, int y) const {
    return data + static_cast<size_t>(channel) * plane_stride_bytes +
           static_cast<size_t>(y) * row_stride_bytes;
  }
  Byte& at(int channel, int y, int x) const { return row(channel, y)[x]; }
};
using ImageView = BasicImageView<const uint8_t>;
using MutableImageView = BasicImageView<uint8_t>;

/// Owned pixels. Rows are padded to 16 bytes. Move-only.
class Image {
 public:
  Image() = default;
  /// Pixels are unspecified. `pool` may be null. Throws std::bad_alloc.
  Image(BufferPool* pool, int width_px, int height_px, int channels);

  int width_px() const { return width_px_; }
  int height_px() const { return height_px_; }
  int channels() const { return channels_; }
  bool empty() const { return !buffer_; }
  /// Bytes that this picture occupies in memory, padding included.
  size_t bytes() const { return buffer_.capacity(); }

  ImageView view() const {
    return {buffer_.data(), width_px_,          height_px_,
            channels_,      row_stride_bytes(), plane_stride_bytes()};
  }
  MutableImageView mutable_view() {
    return {buffer_.data(), width_px_,          height_px_,
            channels_,      row_stride_bytes(), plane_stride_bytes()};
  }

  /// Bytes that a picture of this size will occupy.
  static size_t bytes_for(int width_px, int height_px, int channels);

 private:
  size_t row_stride_bytes() const { return (static_cast<size_t>(width_px_) + 15) / 16 * 16; }
  size_t plane_stride_bytes() const { return row_stride_bytes() * static_cast<size_t>(height_px_); }

  Buffer buffer_;
  int width_px_ = 0;
  int height_px_ = 0;
  int channels_ = 0;
};

}  // namespace yoload
