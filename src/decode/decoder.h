// Turns the bytes of one picture file into an upright planar 8-bit picture, or says why it cannot.
//
// The kind is told by content, never by file name. Rules, and where they differ from other loaders:
// README.md beside this file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/image.h"
#include "core/image_info.h"
#include "core/status.h"
#include "yoload/jpeg.h"
#include "yoload/options.h"

namespace yoload {

struct DecodeOptions {
  int channels = 3;  ///< 3: R,G,B; 1: luma; other counts: .npy and multi-page TIFF as stored
  OnCorrupt on_corrupt = OnCorrupt::reject;
  DecodeLimits limits;
  bool scale_16bit = false;  ///< stretch the used range over 0..255 instead of taking the high byte
  JpegDecode jpeg = JpegDecode::automatic;
  /// Once it is set, a decode that is under way soon ends as if its time were over. May be null.
  const std::atomic<bool>* cancelled = nullptr;
};

struct Decoded {
  Image image;           ///< upright
  ImageInfo info;        ///< width and height are those of the file, even where `image` is scaled
  bool damaged = false;  ///< part of the picture is lost; only with OnCorrupt::accept
  std::string warning;   ///< what is odd about the file although every pixel is there; may be empty
  bool own_jpeg = false;  ///< decoded by our own JPEG decoder, not by libjpeg-turbo
};

/// One of several files that are decoded together.
struct DecodeRequest {
  std::span<const uint8_t> bytes;
  /// Where the pixels go instead of Decoded::image; a target that is too small is
  /// `invalid_argument`. May be null.
  const PixelTarget* target = nullptr;
};

/// Not thread-safe: one per thread. Keeps its row buffers from picture to picture.
class Decoder {
 public:
  explicit Decoder(const DecodeOptions& options);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  /// `pool` may be null. With `min_long_side_px` > 0 a JPEG may come out at 1/2, 1/4 or 1/8 of its
  /// size, as long as its longer side does not fall below that. Never throws.
  Result<Decoded> decode(std::span<const uint8_t> bytes, BufferPool* pool,
                         int min_long_side_px = 0);

  /// Files that decode_many() works on at once.
  static constexpr size_t kTogether = 2;
  using Done = std::function<void(size_t, Result<Decoded>)>;
  /// The same results for several files. JPEGs are decoded kTogether at a time in this thread,
  /// which takes less time than one after the other. `done` is called once for every request, by
  /// its number, in the order in which they end; it must not use this decoder, and may throw.
  void decode_many(std::span<const DecodeRequest> requests, BufferPool* pool, int min_long_side_px,
                   const Done& done);

 private:
  struct Lane;
  class Run;
  struct State;
  std::unique_ptr<State> state_;
};

/// Header facts from the first bytes of a file: `truncated` when they do not reach far enough,
/// `limit` when the picture is too large.
Result<ImageInfo> read_info(std::span<const uint8_t> head, const DecodeLimits& limits);

/// The same from a file; reads 64 KB, and more only where the facts lie behind that. Thread-safe.
Result<ImageInfo> probe_file(const std::string& path, const DecodeLimits& limits);

/// Memory that one decode takes at its peak, the picture included and the file's bytes not: an
/// upper estimate for the memory budget.
size_t decode_memory_bytes(const ImageInfo& info, int channels, int min_long_side_px);

/// What can be decoded, and by which library, in one line.
std::string_view decode_support();

}  // namespace yoload
