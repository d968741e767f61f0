// Finds the parts of a WebP file: size, first frame, EXIF.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "decode/byte_source.h"

namespace yoload::decode {

struct WebpLayout {
  int canvas_width_px = 0;
  int canvas_height_px = 0;
  bool has_alpha = false;
  bool animated = false;
  int frames = 1;
  uint64_t exif_start = 0;  ///< 0: none
  uint64_t exif_bytes = 0;
  // First frame of an animation: its chunks, and where they go on the canvas.
  uint64_t frame_start = 0;
  uint64_t frame_bytes = 0;
  int frame_x_px = 0;
  int frame_y_px = 0;
  int frame_width_px = 0;
  int frame_height_px = 0;
};

/// False when the bytes end before the size is known or contradict the format.
bool read_webp_layout(ByteSource& source, WebpLayout* layout);

}  // namespace yoload::decode
