// The header of a NumPy .npy file, as far as pictures need it: H,W or H,W,C of uint8 or uint16.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/status.h"
#include "decode/byte_source.h"

namespace yoload::decode {

struct NpyLayout {
  int width_px = 0;
  int height_px = 0;
  int channels = 1;
  int bits = 8;
  bool big_endian = false;
  uint64_t data_start = 0;
};

Status read_npy_layout(ByteSource& source, NpyLayout* layout);

}  // namespace yoload::decode
