// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "decode/exif.h"
#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

// Channels of colour types 0, 2, 3 (palette), 4, 6; 0 for those that do not exist.
int channels_of(uint32_t colour_type) {
  switch (colour_type) {
    case 0:
      return 1;
    case 2:
    case 3:
      return 3;
    case 4:
      return 2;
    case 6:
      return 4;
    default:
      return 0;
  }
}

bool depth_fits(uint32_t colour_type, uint32_t bits) {
  switch (colour_type) {
    case 0:
      return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16;
    case 3:
      return bits == 1 || bits == 2 || bits == 4 || bits == 8;
    default:
      return bits == 8 || bits == 16;
  }
}

constexpr int kMaxChunks = 1000;  // before the pixels; real files have under twenty

}  // namespace

Status read_png_header(ByteSource& source, ImageInfo* info) {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t bits = 0;
  uint32_t colour_type = 0;
  uint32_t interlace = 0;
  if (!source.u32(16, true, &width) || !source.u32(20, true, &height) || !source.u8(24, &bits) ||
      !source.u8(25, &colour_type) || !source.u8(28, &interlace)) {
    return fail(Code::truncated, "PNG ends inside its header");
  }
  if (!source.matches(12, "IHDR")) return fail(Code::corrupt, "PNG without a header chunk");
  if (width > 0x7FFFFFFF || height > 0x7FFFFFFF) {
    return fail(Code::corrupt, fmt::format("PNG of {} x {} pixels", width, height));
  }
  info->channels = channels_of(colour_type);
  if (info->channels == 0 || !depth_fits(colour_type, bits)) {
    return fail(Code::corrupt,
                fmt::format("PNG with colour type {} and {} bits", colour_type, bits));
  }
  info->width_px = static_cast<int32_t>(width);
  info->height_px = static_cast<int32_t>(height);
  info->bits = static_cast<int32_t>(bits);
  info->whole_picture_state = interlace != 0;

  // eXIf may also stand behind the pixels; the standard allows it, encoders do not do it.
  uint64_t at = 33;
  for (int i = 0; i < kMaxChunks; ++i) {
    uint32_t length = 0;
    if (!source.u32(at, true, &length) || source.matches(at + 4, "IDAT")) break;
    if (source.matches(at + 4, "eXIf")) {
      info->orientation = exif_orientation(source, at + 8, length);
      break;
    }
    at += uint64_t{12} + length;
  }
  return {};
}

}  // namespace yoload::decode
