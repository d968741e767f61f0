// An open TIFF in memory: libtiff over a span, with its messages kept instead of printed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <span>
#include <string>

namespace yoload::decode {

/// Neither copyable nor movable: libtiff holds its address.
class TiffFile {
 public:
  /// `max_block_bytes` bounds every single allocation inside libtiff; 0 is unbounded.
  TiffFile(std::span<const uint8_t> bytes, uint64_t max_block_bytes);
  ~TiffFile();
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  TIFF* get() const { return tiff_; }
  bool open() const { return tiff_ != nullptr; }
  /// The first error that libtiff reported; empty when there was none.
  const std::string& error() const { return error_; }
  /// Did it refuse an allocation above the bound?
  bool over_limit() const {
    return error_.find("limit defined in open options") != std::string::npos;
  }
  /// Did it ask for bytes behind the end?
  bool read_past_end() const { return read_past_end_; }

  /// A tag's value, or its default where the standard gives one.
  uint16_t tag16(uint32_t tag, uint16_t fallback) const;
  uint32_t tag32(uint32_t tag, uint32_t fallback) const;

 private:
  static tmsize_t on_read(thandle_t self, void* out, tmsize_t bytes);
  static toff_t on_seek(thandle_t self, toff_t offset, int whence);
  static int on_error(TIFF* tiff, void* self, const char* module, const char* format, va_list args);

  std::span<const uint8_t> bytes_;
  uint64_t at_ = 0;
  bool read_past_end_ = false;
  std::string error_;
  TIFF* tiff_ = nullptr;
};

}  // namespace yoload::decode
