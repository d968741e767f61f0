// SPDX-License-Identifier: Apache-2.0
#include "decode/gif/gif_layout.h"

#include <algorithm>

#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

constexpr uint32_t kExtension = 0x21;
constexpr uint32_t kPicture = 0x2C;

Status ends_early() {
  return fail(Code::truncated, "GIF ends before its first picture");
}

// Reads the table that `flags` announces; `*at` moves behind it.
bool read_colours(ByteSource& source, uint32_t flags, uint64_t* at, GifLayout* layout) {
  const uint32_t count = 2U << (flags & 7);
  layout->colours = {};
  for (uint32_t i = 0; i < count; ++i, *at += 3) {
    if (!source.read(*at, layout->colours[i])) return false;
  }
  return true;
}

}  // namespace

bool skip_sub_blocks(ByteSource& source, uint64_t* at) {
  uint32_t bytes = 0;
  while (source.u8(*at, &bytes)) {
    *at += 1 + uint64_t{bytes};
    if (bytes == 0) return true;
  }
  return false;
}

Status read_gif_layout(ByteSource& source, GifLayout* layout) {
  uint32_t screen_width = 0;
  uint32_t screen_height = 0;
  uint32_t flags = 0;
  uint32_t background = 0;
  if (!source.u16(6, false, &screen_width) || !source.u16(8, false, &screen_height) ||
      !source.u8(10, &flags) || !source.u8(11, &background)) {
    return ends_early();
  }
  uint64_t at = 13;
  if ((flags & 0x80) != 0) {
    if (!read_colours(source, flags, &at, layout)) return ends_early();
    layout->background = layout->colours[background];
  }
  uint32_t block = 0;
  while (true) {
    if (!source.u8(at, &block)) return ends_early();
    if (block == kPicture) break;
    if (block != kExtension) return fail(Code::corrupt, "GIF without a picture");
    at += 2;
    if (!skip_sub_blocks(source, &at)) return ends_early();
  }
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  if (!source.u16(at + 1, false, &x) || !source.u16(at + 3, false, &y) ||
      !source.u16(at + 5, false, &width) || !source.u16(at + 7, false, &height) ||
      !source.u8(at + 9, &flags)) {
    return ends_early();
  }
  at += 10;
  if ((flags & 0x80) != 0 && !read_colours(source, flags, &at, layout)) return ends_early();
  if (width == 0 || height == 0) return fail(Code::corrupt, "GIF with an empty picture");
  layout->x_px = static_cast<int>(x);
  layout->y_px = static_cast<int>(y);
  layout->width_px = static_cast<int>(width);
  layout->height_px = static_cast<int>(height);
  layout->canvas_width_px = static_cast<int>(std::max(screen_width, x + width));
  layout->canvas_height_px = static_cast<int>(std::max(screen_height, y + height));
  layout->interlaced = (flags & 0x40) != 0;
  layout->data_start = at;
  return {};
}

Status read_gif_header(ByteSource& source, ImageInfo* info) {
  GifLayout layout;
  if (Status status = read_gif_layout(source, &layout); !status.ok()) return status;
  info->width_px = layout.canvas_width_px;
  info->height_px = layout.canvas_height_px;
  info->channels = 3;
  return {};
}

}  // namespace yoload::decode
