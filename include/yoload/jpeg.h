// Pictures from bytes in memory into memory of the caller: one, or many at a time in one thread.
//
// Ordinary JPEG files (8-bit, sequential Huffman) go through yoload's own decoder, whose pixels are
// those of libjpeg-turbo's accurate transform and interpolated chroma, bit for bit; all other
// files, and every file that is not perfectly regular, go through the usual libraries.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "yoload/error.h"
#include "yoload/options.h"

namespace yoload {

enum class PixelLayout : uint8_t {
  planar,       ///< C,H,W
  interleaved,  ///< H,W,C
};

/// Memory of the caller for one upright 8-bit picture, written without gaps between rows.
struct PixelTarget {
  uint8_t* data = nullptr;
  size_t bytes = 0;  ///< at least width * height * channels
  PixelLayout layout = PixelLayout::interleaved;
};

struct PictureInfo {
  int width_px = 0;  ///< upright: EXIF orientation applied
  int height_px = 0;
  int channels = 0;       ///< as stored: 1 gray, 3 colour...
  bool own_jpeg = false;  ///< after a decode: by yoload's own JPEG decoder
};

struct PictureDecoderOptions {
  int channels = 3;  ///< 3: R, G, B; 1: luma
  JpegDecode decode = JpegDecode::automatic;
  DecodeLimits limits;
};

/// Not thread-safe: one per thread. Keeps its buffers from picture to picture.
class PictureDecoder {
 public:
  explicit PictureDecoder(const PictureDecoderOptions& options = {});
  ~PictureDecoder();
  PictureDecoder(PictureDecoder&&) noexcept;
  PictureDecoder& operator=(PictureDecoder&&) noexcept;

  /// Size from the header, to make room for the picture. Throws Error for files without one.
  PictureInfo info(std::span<const uint8_t> file) const;

  /// Throws Error with a cause (truncated, corrupt, unsupported, limit...) for a file that cannot
  /// be decoded, and std::invalid_argument for a target that is too small. The target's contents
  /// are then undefined.
  PictureInfo decode(std::span<const uint8_t> file, const PixelTarget& target);

  struct Task {
    std::span<const uint8_t> file;
    PixelTarget target;
    PictureInfo info;   ///< set by decode_many()
    std::string error;  ///< set by decode_many(): why there is no picture; empty after success
  };
  /// The same for many files, with several in flight at a time: nearly half the time of one after
  /// the other for small JPEGs. A file that fails costs no other. `done`, if there is one, is
  /// called with the number of each task as it ends, in the order of their ends.
  void decode_many(std::span<Task> tasks, const std::function<void(size_t)>& done = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// decode_many() with a decoder in each of `threads` threads, the calling one among them.
void decode_pictures(std::span<PictureDecoder::Task> tasks, const PictureDecoderOptions& options,
                     int threads);

}  // namespace yoload
