// One JPEG to be decoded on the GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/image.h"
#include "core/status.h"

namespace yoload::decode {

struct DeviceJpegJob {
  /// Page-locked, from SOI to the end marker (JpegFacts::end). Must stay as they are until the
  /// stream has passed the decode.
  std::span<const uint8_t> bytes;
  /// Device memory of the stored size, with 3 channels (R, G, B; gray files R = G = B) or 1 (luma).
  /// Written in the stream's order.
  MutableImageView to;
  /// Set by the decoder. Not ok: `to` holds nothing, and the CPU decoder should have the file.
  Status status;
};

}  // namespace yoload::decode
