// One decode in progress: what every format's decoder gets, and how it reports what it found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "decode/limits.h"
#include "decode/row_sink.h"

namespace yoload::decode {

/// Buffers kept from picture to picture.
struct Scratch {
  std::vector<uint8_t> rows;
  std::vector<uint8_t> plane;
  std::vector<uint16_t> deep;

  /// Frees what is as large as a picture: no budget counts it between decodes.
  void forget_large() {
    constexpr size_t kKeptBytes = size_t{4} << 20;
    if (rows.capacity() > kKeptBytes) rows = {};
    if (plane.capacity() > kKeptBytes) plane = {};
    if (deep.capacity() * 2 > kKeptBytes) deep = {};
  }
};

struct Job {
  std::span<const uint8_t> bytes;
  const DecodeOptions& options;
  BufferPool* pool;
  int min_long_side_px;
  const PixelTarget* target;  ///< null: `out.image`
  Scratch& scratch;
  RowSink& sink;
  CpuDeadline deadline;
  Decoded out;  // out.info is filled before the format's decoder runs
  bool begun = false;

  bool accepts_damage() const { return options.on_corrupt == OnCorrupt::accept; }

  /// Stored size, before the orientation.
  int stored_width_px() const;
  int stored_height_px() const;

  /// Makes the picture and points the sink at it. `width_px` x `height_px` is the stored size of
  /// what will be delivered, `working_bytes` what the decoder needs beside it.
  Status begin_picture(int width_px, int height_px, int channels, size_t working_bytes);

  /// Puts a picture that had to be turned into the target.
  void deliver();

  /// Ends a damaged picture: a failure, or under `accept` the rows so far and black for the rest.
  /// Without any rows it is a failure in both cases.
  Status end_damaged(Code code, std::string message);

  void warn(std::string_view text);
};

Status decode_jpeg(Job& job);
/// What decode_jpeg() needs beside the picture for a file of one scan.
size_t jpeg_working_bytes(int output_width_px);
Status decode_png(Job& job);
Status decode_webp(Job& job);
Status decode_tiff(Job& job);
Status decode_bmp(Job& job);
Status decode_gif(Job& job);
Status decode_npy(Job& job);

}  // namespace yoload::decode
