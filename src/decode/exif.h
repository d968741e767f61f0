// Finds the orientation in an EXIF block, which is a TIFF directory wherever it is embedded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "decode/byte_source.h"

namespace yoload::decode {

/// The orientation 1..8 that directory 0 of the TIFF block at `start`, `bytes` long, names; 1 where
/// there is none, it is out of range or the block is damaged. Only directory 0 counts: directory 1
/// describes the thumbnail. Reads a bounded number of entries and follows no links.
int exif_orientation(ByteSource& source, uint64_t start, uint64_t bytes);

/// Does orientation 5..8 exchange width and height?
inline bool swaps_axes(int orientation) {
  return orientation >= 5;
}

}  // namespace yoload::decode
