// The parts of a GIF before and around its first picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/status.h"
#include "decode/byte_source.h"

namespace yoload::decode {

struct GifLayout {
  int canvas_width_px = 0;  ///< the screen, or what the first picture needs beyond it
  int canvas_height_px = 0;
  int x_px = 0;  ///< first picture on the canvas
  int y_px = 0;
  int width_px = 0;
  int height_px = 0;
  bool interlaced = false;
  std::array<std::array<uint8_t, 3>, 256> colours{};
  std::array<uint8_t, 3> background{};
  uint64_t data_start = 0;  ///< the byte with the code size
};

Status read_gif_layout(ByteSource& source, GifLayout* layout);

/// Follows a chain of sub-blocks; `*at` ends behind its terminator. False when the bytes end
/// before.
bool skip_sub_blocks(ByteSource& source, uint64_t* at);

}  // namespace yoload::decode
