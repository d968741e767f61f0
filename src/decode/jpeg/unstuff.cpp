// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/unstuff.h"

#include <cstring>

namespace yoload::decode::jpeg {
namespace {

// Does a byte of the word equal 0xFF, that is: is a byte of its complement zero?
bool has_0xff(uint64_t word) {
  return ((~word - 0x0101010101010101) & word & 0x8080808080808080) != 0;
}

// Copies up to the next 0xFF, or to `end`; returns how many bytes. Writes up to 7 bytes more.
size_t copy_to_0xff(const uint8_t* from, const uint8_t* end, uint8_t* to) {
  const uint8_t* at = from;
  for (; end - at >= 8; at += 8, to += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    std::memcpy(to, &word, sizeof(word));
    if (has_0xff(word)) break;
  }
  for (; at < end && *at != 0xFF; ++at) *to++ = *at;
  return static_cast<size_t>(at - from);
}

}  // namespace

bool CodedData::read(std::span<const uint8_t> coded, size_t segments) {
  constexpr uint8_t kRst0 = 0xD0, kEoi = 0xD9;
  const size_t needed_bytes = coded.size() + kPaddingBytes;
  if (capacity_bytes_ < needed_bytes) {
    bytes_ = std::make_unique_for_overwrite<uint8_t[]>(needed_bytes);
    capacity_bytes_ = needed_bytes;
  }
  ends_.clear();
  const uint8_t* at = coded.data();
  const uint8_t* const end = at + coded.size();
  uint8_t* to = bytes_.get();
  while (true) {
    const size_t copied = copy_to_0xff(at, end, to);
    at += copied;
    to += copied;
    if (end - at < 2) return false;
    const uint8_t marker = at[1];
    at += 2;
    if (marker == 0) {
      *to++ = 0xFF;
      continue;
    }
    ends_.push_back(static_cast<size_t>(to - bytes_.get()));
    if (ends_.size() == segments) {
      if (marker != kEoi) return false;
      std::memset(to, 0, kPaddingBytes);
      return true;
    }
    if (marker != kRst0 + (ends_.size() - 1) % 8) return false;
  }
}

}  // namespace yoload::decode::jpeg
