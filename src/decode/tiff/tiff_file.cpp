// SPDX-License-Identifier: Apache-2.0
#include "decode/tiff/tiff_file.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace yoload::decode {
namespace {

tmsize_t no_write(thandle_t, void*, tmsize_t) {
  return 0;
}
int no_close(thandle_t) {
  return 0;
}
int silent(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

}  // namespace

TiffFile::TiffFile(std::span<const uint8_t> bytes, uint64_t max_block_bytes) : bytes_(bytes) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) return;
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, silent, nullptr);
  if (max_block_bytes != 0) {
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(max_block_bytes));
  }
  // "m": no memory mapping, "r": read. Sizes come from the callback below.
  tiff_ = TIFFClientOpenExt(
      "memory", "rm", this, on_read, no_write, on_seek, no_close,
      [](thandle_t self) { return toff_t{static_cast<TiffFile*>(self)->bytes_.size()}; }, nullptr,
      nullptr, options);
  TIFFOpenOptionsFree(options);
}

TiffFile::~TiffFile() {
  if (tiff_ != nullptr) TIFFClose(tiff_);
}

uint16_t TiffFile::tag16(uint32_t tag, uint16_t fallback) const {
  uint16_t value = fallback;
  return TIFFGetFieldDefaulted(tiff_, tag, &value) == 1 ? value : fallback;
}

uint32_t TiffFile::tag32(uint32_t tag, uint32_t fallback) const {
  uint32_t value = fallback;
  return TIFFGetFieldDefaulted(tiff_, tag, &value) == 1 ? value : fallback;
}

tmsize_t TiffFile::on_read(thandle_t self, void* out, tmsize_t bytes) {
  auto& file = *static_cast<TiffFile*>(self);
  const uint64_t left = file.bytes_.size() - std::min<uint64_t>(file.at_, file.bytes_.size());
  if (static_cast<uint64_t>(bytes) > left) file.read_past_end_ = true;
  const auto count = static_cast<size_t>(std::min<uint64_t>(left, static_cast<uint64_t>(bytes)));
  if (count > 0) std::memcpy(out, file.bytes_.data() + file.at_, count);
  file.at_ += count;
  return static_cast<tmsize_t>(count);
}

toff_t TiffFile::on_seek(thandle_t self, toff_t offset, int whence) {
  auto& file = *static_cast<TiffFile*>(self);
  const uint64_t base = whence == SEEK_CUR ? file.at_ : whence == SEEK_END ? file.bytes_.size() : 0;
  file.at_ = base + offset;
  return file.at_;
}

int TiffFile::on_error(TIFF*, void* self, const char*, const char* format, va_list args) {
  auto& file = *static_cast<TiffFile*>(self);
  if (file.error_.empty()) {
    char text[256];
    std::vsnprintf(text, sizeof(text), format, args);
    file.error_ = text;
  }
  return 1;  // handled: nothing goes to stderr
}

}  // namespace yoload::decode
