// SPDX-License-Identifier: Apache-2.0
#include "decode/bmp/bmp_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

constexpr uint64_t kFileHeaderBytes = 14;
constexpr uint32_t kCoreHeaderBytes = 12;  // OS/2 1.x: 16-bit sizes, three-byte palette
constexpr uint32_t kInfoHeaderBytes = 40;

enum Compression : uint32_t { kRgb = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kAlphaBitFields = 6 };

Status ends_early() {
  return fail(Code::truncated, "BMP ends inside its header");
}

BmpField field_of(uint32_t mask) {
  if (mask == 0) return {};
  const int shift = std::countr_zero(mask);
  return {.mask = mask, .shift = shift, .max = mask >> shift};
}

Status read_size(ByteSource& source, uint32_t header_bytes, BmpLayout* layout) {
  uint32_t width = 0;
  uint32_t height = 0;
  const bool core = header_bytes == kCoreHeaderBytes;
  if (core ? !source.u16(18, false, &width) || !source.u16(20, false, &height)
           : !source.u32(18, false, &width) || !source.u32(22, false, &height)) {
    return ends_early();
  }
  const auto signed_width = static_cast<int32_t>(width);
  const auto signed_height = static_cast<int32_t>(height);
  if (signed_width <= 0 || signed_height == 0 || signed_height == INT32_MIN) {
    return fail(Code::corrupt, fmt::format("BMP of {} x {} pixels", signed_width, signed_height));
  }
  layout->width_px = signed_width;
  layout->top_down = signed_height < 0;
  layout->height_px = layout->top_down ? -signed_height : signed_height;
  return {};
}

Status read_coding(ByteSource& source, uint32_t header_bytes, BmpLayout* layout) {
  uint32_t bits = 0;
  uint32_t compression = kRgb;
  if (!source.u16(header_bytes == kCoreHeaderBytes ? 24 : 28, false, &bits)) return ends_early();
  if (header_bytes >= kInfoHeaderBytes && !source.u32(30, false, &compression)) return ends_early();
  constexpr std::array<uint32_t, 7> kDepths = {1, 2, 4, 8, 16, 24, 32};
  if (std::find(kDepths.begin(), kDepths.end(), bits) == kDepths.end()) {
    return fail(Code::corrupt, fmt::format("BMP with {} bits per pixel", bits));
  }
  layout->bits = static_cast<int>(bits);
  bool fits = true;
  switch (compression) {
    case kRgb:
      break;
    case kRle8:
      layout->coding = BmpCoding::rle8, fits = bits == 8;
      break;
    case kRle4:
      layout->coding = BmpCoding::rle4, fits = bits == 4;
      break;
    case kBitFields:
    case kAlphaBitFields:
      fits = bits == 16 || bits == 32;
      break;
    default:
      return fail(Code::unsupported, fmt::format("BMP with compression {}", compression));
  }
  if (!fits || (layout->coding != BmpCoding::plain && layout->top_down)) {
    return fail(Code::corrupt,
                fmt::format("BMP with {} bits and compression {}", bits, compression));
  }
  // Without masks 16 bits are 5-5-5 and 32 bits are 8-8-8.
  std::array<uint32_t, 3> masks = {0xFF0000, 0xFF00, 0xFF};
  if (bits == 16) masks = {0x7C00, 0x3E0, 0x1F};
  if (compression == kBitFields || compression == kAlphaBitFields) {
    // Behind a 40-byte header or, at the same place, part of a longer one.
    for (size_t i = 0; i < 3; ++i) {
      if (!source.u32(kFileHeaderBytes + kInfoHeaderBytes + 4 * i, false, &masks[i])) {
        return ends_early();
      }
    }
  }
  for (size_t i = 0; i < 3; ++i) layout->fields[i] = field_of(masks[i]);
  return {};
}

void read_palette(ByteSource& source, uint32_t header_bytes, BmpLayout* layout) {
  const bool core = header_bytes == kCoreHeaderBytes;
  uint32_t used = 0;
  if (!core) source.u32(46, false, &used);
  const uint32_t most = 1U << layout->bits;
  if (used == 0 || used > most) used = most;
  const uint32_t entry_bytes = core ? 3 : 4;
  const uint64_t start = kFileHeaderBytes + header_bytes;
  // Some files let the pixels begin inside the palette.
  if (layout->pixels_start > start) {
    used = static_cast<uint32_t>(
        std::min<uint64_t>(used, (layout->pixels_start - start) / entry_bytes));
  }
  layout->is_gray = used > 0;
  for (uint32_t i = 0; i < used; ++i) {
    std::array<uint8_t, 3> bgr{};
    if (!source.read(start + uint64_t{i} * entry_bytes, bgr)) break;
    layout->colours[i] = {bgr[2], bgr[1], bgr[0]};
    layout->is_gray &= bgr[0] == bgr[1] && bgr[1] == bgr[2];
  }
}

}  // namespace

Status read_bmp_layout(ByteSource& source, BmpLayout* layout) {
  uint32_t start = 0;
  uint32_t header_bytes = 0;
  if (!source.u32(10, false, &start) || !source.u32(14, false, &header_bytes)) return ends_early();
  if (header_bytes != kCoreHeaderBytes && (header_bytes < 16 || header_bytes > 256)) {
    return fail(Code::corrupt, fmt::format("BMP with a header of {} bytes", header_bytes));
  }
  layout->pixels_start = start;
  if (Status status = read_size(source, header_bytes, layout); !status.ok()) return status;
  if (Status status = read_coding(source, header_bytes, layout); !status.ok()) return status;
  layout->row_bytes =
      (static_cast<uint64_t>(layout->width_px) * static_cast<uint64_t>(layout->bits) + 31) / 32 * 4;
  if (layout->bits <= 8) read_palette(source, header_bytes, layout);
  return {};
}

Status read_bmp_header(ByteSource& source, ImageInfo* info) {
  BmpLayout layout;
  if (Status status = read_bmp_layout(source, &layout); !status.ok()) return status;
  info->width_px = layout.width_px;
  info->height_px = layout.height_px;
  info->channels = layout.is_gray ? 1 : 3;
  info->bits = 8;
  return {};
}

}  // namespace yoload::decode
