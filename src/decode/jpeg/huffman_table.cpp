// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/huffman_table.h"

#include <algorithm>

namespace yoload::decode::jpeg {
namespace {

constexpr FusedEntry kEscape = kEscapeMove << 8;

constexpr FusedEntry entry(int bits, uint32_t move, int behind = 0, int value = 0) {
  return static_cast<uint32_t>(bits) | move << 8 | static_cast<uint32_t>(behind) << 16 |
         static_cast<uint32_t>(value) << 20;
}

}  // namespace

bool HuffmanTable::is_built_from(std::span<const uint8_t> spec, Kind kind) const {
  return kind == kind_ && std::ranges::equal(spec, this->spec());
}

void HuffmanTable::build(std::span<const uint8_t> spec, Kind kind) {
  if (is_built_from(spec, kind)) return;
  std::ranges::copy(spec, spec_.begin());
  spec_bytes_ = spec.size();
  kind_ = kind;
  uint32_t code = 0;
  int32_t symbols = 0;
  for (size_t length = 1; length <= 16; ++length) {
    symbol_of_code_zero_[length] = symbols - static_cast<int32_t>(code);
    code += spec[length - 1];
    symbols += spec[length - 1];
    behind_[length] = code << (16 - length);
    code <<= 1;
  }
  fill_entries();
}

void HuffmanTable::fill_entries() {
  FusedEntry* next = entries_.data();
  const uint8_t* symbol = spec_.data() + 16;
  // Codes in order fill the table in order (T.81 annex C).
  for (int length = 1; length <= kLookUpBits; ++length) {
    const int unseen_bits = kLookUpBits - length;  // of the look-up, behind the code
    for (int i = spec_[static_cast<size_t>(length - 1)]; i > 0; --i, ++symbol) {
      const int size = *symbol & 15;
      const int run = kind_ == Kind::ac ? *symbol >> 4 : 0;
      const int bits = length + size;
      if (size == 0) {
        const bool ends = kind_ == Kind::ac && run != 15;  // as libjpeg reads 0x10..0xE0
        const uint32_t move = ends ? kEndOfBlockMove : static_cast<uint32_t>(run + 1);
        next = std::fill_n(next, 1 << unseen_bits, entry(bits, move));
      } else if (bits > kMostFusedBits || unseen_bits == 0) {
        next = std::fill_n(next, 1 << unseen_bits, kEscape);
      } else {
        const int seen = std::min(size, unseen_bits);
        const int behind = size - seen;
        for (int stored = 0; stored < 1 << seen; ++stored) {
          const int value = extend(stored << behind, size);
          next = std::fill_n(next, 1 << (unseen_bits - seen),
                             entry(bits, static_cast<uint32_t>(run + 1), behind, value));
        }
      }
    }
  }
  std::fill(next, entries_.data() + entries_.size(), kEscape);
}

HuffmanTable::Symbol HuffmanTable::find(uint64_t next) const {
  const auto pattern = static_cast<uint32_t>(next >> 48);
  for (size_t length = 1; length <= 16; ++length) {
    if (pattern >= behind_[length]) continue;
    const int32_t index =
        symbol_of_code_zero_[length] + static_cast<int32_t>(pattern >> (16 - length));
    return {static_cast<int>(length), spec_[static_cast<size_t>(16 + index)]};
  }
  return {0, 0};
}

}  // namespace yoload::decode::jpeg
