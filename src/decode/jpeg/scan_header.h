// From SOI to the coded data of the only scan: what our own decoder must know before the first bit.
//
// Takes only what is perfectly regular and in scope: baseline or extended-sequential Huffman coding
// of 8-bit samples, 1 or 3 components in one scan, sampling factors 1 and 2. Everything else, and
// everything that makes libjpeg-turbo complain, is not ours: that library's verdict counts then.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/jpeg/frame.h"

namespace yoload::decode::jpeg {

struct ScanHeader {
  Frame frame;
  /// As in the file, and checked: 16 counts, then the symbols. By number; empty where not defined.
  std::array<std::span<const uint8_t>, 4> dc_tables{}, ac_tables{};
  /// Numbers of the tables that each component uses.
  std::array<uint8_t, 3> dc_table{}, ac_table{};
  size_t coded_at = 0;  ///< offset of the first byte of coded data
};

/// False: not ours. The header's spans point into `bytes`.
bool read_scan_header(std::span<const uint8_t> bytes, ScanHeader* header);

}  // namespace yoload::decode::jpeg
