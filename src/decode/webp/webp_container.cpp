// SPDX-License-Identifier: Apache-2.0
#include "decode/webp/webp_container.h"

#include "decode/exif.h"
#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

bool u24(ByteSource& source, uint64_t at, uint32_t* value) {
  uint32_t low = 0;
  uint32_t high = 0;
  if (!source.u16(at, false, &low) || !source.u8(at + 2, &high)) return false;
  *value = low | high << 16;
  return true;
}

// RFC 9649 section 2.5: a key frame's start code, then 14 bits each of width and height.
bool read_lossy_size(ByteSource& source, uint64_t at, WebpLayout* layout) {
  uint32_t width = 0;
  uint32_t height = 0;
  if (!source.matches(at + 3, "\x9D\x01\x2A")) return false;
  if (!source.u16(at + 6, false, &width) || !source.u16(at + 8, false, &height)) return false;
  layout->canvas_width_px = static_cast<int>(width & 0x3FFF);
  layout->canvas_height_px = static_cast<int>(height & 0x3FFF);
  return true;
}

bool read_lossless_size(ByteSource& source, uint64_t at, WebpLayout* layout) {
  uint32_t signature = 0;
  uint32_t bits = 0;
  if (!source.u8(at, &signature) || signature != 0x2F) return false;
  if (!source.u32(at + 1, false, &bits)) return false;
  layout->canvas_width_px = static_cast<int>(bits & 0x3FFF) + 1;
  layout->canvas_height_px = static_cast<int>(bits >> 14 & 0x3FFF) + 1;
  layout->has_alpha = (bits >> 28 & 1) != 0;
  return true;
}

bool read_extended_size(ByteSource& source, uint64_t at, WebpLayout* layout) {
  uint32_t flags = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  if (!source.u8(at, &flags) || !u24(source, at + 4, &width) || !u24(source, at + 7, &height)) {
    return false;
  }
  layout->has_alpha = (flags & 0x10) != 0;
  layout->animated = (flags & 0x02) != 0;
  layout->canvas_width_px = static_cast<int>(width) + 1;
  layout->canvas_height_px = static_cast<int>(height) + 1;
  return true;
}

bool read_frame(ByteSource& source, uint64_t at, uint32_t bytes, WebpLayout* layout) {
  constexpr uint32_t kFrameHeaderBytes = 16;
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  if (bytes <= kFrameHeaderBytes || !u24(source, at, &x) || !u24(source, at + 3, &y) ||
      !u24(source, at + 6, &width) || !u24(source, at + 9, &height)) {
    return false;
  }
  layout->frame_x_px = static_cast<int>(x) * 2;
  layout->frame_y_px = static_cast<int>(y) * 2;
  layout->frame_width_px = static_cast<int>(width) + 1;
  layout->frame_height_px = static_cast<int>(height) + 1;
  layout->frame_start = at + kFrameHeaderBytes;
  layout->frame_bytes = bytes - kFrameHeaderBytes;
  return true;
}

constexpr int kMaxChunks = 10000;

}  // namespace

bool read_webp_layout(ByteSource& source, WebpLayout* layout) {
  uint64_t at = 12;
  if (source.matches(at, "VP8 ")) return read_lossy_size(source, at + 8, layout);
  if (source.matches(at, "VP8L")) return read_lossless_size(source, at + 8, layout);
  if (!source.matches(at, "VP8X") || !read_extended_size(source, at + 8, layout)) return false;

  int frames = 0;
  for (int i = 0; i < kMaxChunks; ++i) {
    uint32_t bytes = 0;
    if (!source.u32(at + 4, false, &bytes)) break;
    const uint64_t payload = at + 8;
    if (layout->exif_start == 0 && source.matches(at, "EXIF")) {
      // Some writers keep JPEG's "Exif\0\0" in front of the TIFF block.
      const bool prefixed = bytes > 6 && source.matches(payload, "Exif");
      layout->exif_start = payload + (prefixed ? 6 : 0);
      layout->exif_bytes = bytes - (prefixed ? 6 : 0);
    }
    if (source.matches(at, "ANMF") && frames++ == 0) read_frame(source, payload, bytes, layout);
    at = payload + bytes + bytes % 2;
  }
  layout->frames = frames > 0 ? frames : 1;
  return true;
}

Status read_webp_header(ByteSource& source, ImageInfo* info) {
  WebpLayout layout;
  if (!read_webp_layout(source, &layout)) {
    return source.size() < 30 ? fail(Code::truncated, "WebP ends inside its header")
                              : fail(Code::corrupt, "WebP without a picture chunk");
  }
  info->width_px = layout.canvas_width_px;
  info->height_px = layout.canvas_height_px;
  info->channels = layout.has_alpha ? 4 : 3;
  info->pages = layout.frames;
  if (layout.exif_start != 0) {
    info->orientation = exif_orientation(source, layout.exif_start, layout.exif_bytes);
  }
  return {};
}

}  // namespace yoload::decode
