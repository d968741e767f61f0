// The coded data of a scan without its stuffed zero bytes and markers, so that the decoder's loop
// reads eight bytes at once and never looks for 0xFF (T.81 F.1.2.3). SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace yoload::decode::jpeg {

class CodedData {
 public:
  /// Zero bytes behind the data: what the decoder may read beyond it between two checks.
  static constexpr size_t kPaddingBytes = 2304;

  /// `coded` begins behind the scan header. True if exactly `segments` segments follow each other,
  /// parted by restart markers in order, and an end marker closes them; what lies behind that is
  /// not looked at.
  bool read(std::span<const uint8_t> coded, size_t segments);

  const uint8_t* begin() const { return bytes_.get(); }
  const uint8_t* end() const { return bytes_.get() + ends_.back(); }
  size_t segments() const { return ends_.size(); }
  /// First byte behind a segment; the next segment begins there.
  const uint8_t* segment_end(size_t segment) const { return bytes_.get() + ends_[segment]; }
  size_t memory_bytes() const { return capacity_bytes_ + ends_.capacity() * sizeof(size_t); }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  size_t capacity_bytes_ = 0;
  std::vector<size_t> ends_;
};

}  // namespace yoload::decode::jpeg
