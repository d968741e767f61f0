// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/marker_scan.h"

#include <algorithm>
#include <cstring>

#include "decode/exif.h"
#include "decode/jpeg/scan_rules.h"

namespace yoload::decode {
namespace {

using namespace std::string_view_literals;

constexpr uint8_t kRst0 = 0xD0;
constexpr uint8_t kRst7 = 0xD7;
constexpr uint8_t kSoi = 0xD8;
constexpr uint8_t kEoi = 0xD9;

/// Offset of the first 0xFF from `at` on that is not a stuffed data byte (0xFF 0x00); the last
/// offset of the data where there is none. The inner loop has no branch, so that the compiler makes
/// vector code of it: stuffing, one byte in about 200, costs nothing, where memchr stops at each.
size_t find_marker(std::span<const uint8_t> bytes, size_t at) {
  constexpr size_t kBlock = 64;
  const uint8_t* data = bytes.data();
  for (; at + kBlock < bytes.size(); at += kBlock) {
    uint8_t found = 0;
    for (size_t i = at; i < at + kBlock; ++i) {
      found |= static_cast<uint8_t>((data[i] == 0xFF) & (data[i + 1] != 0));
    }
    if (found != 0) break;
  }
  while (at + 1 < bytes.size() && (data[at] != 0xFF || data[at + 1] == 0)) ++at;
  return at;
}

JpegCoding coding_of(uint8_t frame_marker) {
  switch (frame_marker) {  // T.81 table B.1
    case 0xC0:
      return JpegCoding::baseline;
    case 0xC1:
      return JpegCoding::extended;
    case 0xC2:
      return JpegCoding::progressive;
    case 0xC3:
      return JpegCoding::lossless;
    case 0xC9:
    case 0xCA:
    case 0xCB:
      return JpegCoding::arithmetic;
    default:
      return JpegCoding::hierarchical;
  }
}

bool is_looked_into(JpegCoding coding) {
  return coding == JpegCoding::baseline || coding == JpegCoding::extended ||
         coding == JpegCoding::progressive;
}

class Walk {
 public:
  explicit Walk(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  JpegFacts run() {
    if (bytes_.size() < 4 || bytes_[0] != 0xFF || bytes_[1] != kSoi) {
      facts_.irregular = "no JPEG";
      return facts_;
    }
    at_ = 2;
    while (facts_.irregular.empty() && facts_.end == 0) facts_.irregular = next_marker();
    return facts_;
  }

 private:
  std::string_view next_marker() {
    if (bytes_.size() - at_ < 2) return "the file ends without an end marker";
    if (bytes_[at_] != 0xFF) return "bytes between segments";
    const uint8_t marker = bytes_[at_ + 1];
    if (marker == 0xFF) return "fill bytes";
    at_ += 2;
    if (marker == kEoi) {
      if (facts_.scans == 0) return "no scan";
      facts_.end = at_;
      return rules_.complete(facts_);
    }
    if (marker < 0xC0 || (marker >= kRst0 && marker <= kSoi)) return "marker out of place";
    if (bytes_.size() - at_ < 2) return "the file ends inside a segment";
    const size_t length = static_cast<size_t>(bytes_[at_] << 8 | bytes_[at_ + 1]);
    if (length < 2) return "segment shorter than its own length field";
    if (length > bytes_.size() - at_) return "the file ends inside a segment";
    const size_t payload_at = at_ + 2;
    at_ += length;
    return segment(marker, payload_at, length - 2);
  }

  std::string_view segment(uint8_t marker, size_t payload_at, size_t payload_bytes) {
    const auto payload = bytes_.subspan(payload_at, payload_bytes);
    switch (marker) {
      case 0xC4:
        return rules_.huffman_tables(payload);
      case 0xDB:
        return rules_.quantisation_tables(payload, &facts_);
      case 0xDD:
        if (payload.size() != 2) return "restart interval of wrong length";
        interval_ = static_cast<uint16_t>(payload[0] << 8 | payload[1]);
        return {};
      case 0xDA:
        return scan(payload);
      case 0xE0:
        jfif_ |= payload.size() >= 14 && starts_with(payload, "JFIF\0"sv);
        return {};
      case 0xE1:
        if (!exif_ && payload.size() > 6 && starts_with(payload, "Exif\0\0"sv)) {
          exif_ = true;
          MemorySource source(bytes_);
          facts_.orientation =
              static_cast<uint8_t>(exif_orientation(source, payload_at + 6, payload_bytes - 6));
        }
        return {};
      case 0xEE:
        if (payload.size() >= 12 && starts_with(payload, "Adobe"sv)) {
          facts_.adobe_transform = static_cast<int8_t>(std::min<uint8_t>(payload[11], 127));
        }
        return {};
      case 0xFE:
        return {};
      default:
        break;
    }
    if (marker >= 0xE0 && marker <= 0xEF) return {};
    // SOF0..SOF15; JPG and DAC share the range, and arithmetic files are not looked into anyway.
    if (marker <= 0xCF && marker != 0xC8 && marker != 0xCC) {
      if (facts_.coding != JpegCoding::none) return "second frame header";
      facts_.coding = coding_of(marker);
      if (auto why = rules_.frame(payload, &facts_); !why.empty()) return why;
      return is_looked_into(facts_.coding) ? ""sv : "coding that is not looked into"sv;
    }
    return "marker that no ordinary file has";  // DNL, DHP, EXP, JPGn, reserved
  }

  // From the scan header to the marker that ends its coded data.
  std::string_view scan(std::span<const uint8_t> header) {
    ScanShape shape;
    if (auto why = rules_.scan(header, facts_, &shape); !why.empty()) return why;
    if (++facts_.scans == 1) {
      facts_.restart_interval = interval_;
      facts_.colour = colour_of(facts_, jfif_);
    }
    const uint64_t in_full_interval = interval_ == 0 ? shape.mcus : interval_;
    uint8_t next_restart = kRst0;
    for (uint64_t mcus_left = shape.mcus; mcus_left > 0;) {
      const uint64_t mcus = std::min(mcus_left, in_full_interval);
      const size_t end = find_marker(bytes_, at_);
      if (end + 1 >= bytes_.size()) return "the file ends inside its coded data";
      // An MCU of a few codes may be small, never smaller than its shortest codes. Divided, not
      // multiplied: a frame header can promise more MCUs than 64 bits of bits would hold.
      if (shape.fewest_bits_per_mcu != 0 &&
          uint64_t{end - at_} * 8 / shape.fewest_bits_per_mcu < mcus) {
        return "too few bytes for the picture's size";
      }
      at_ = end;
      mcus_left -= mcus;
      if (mcus_left == 0) break;
      const uint8_t marker = bytes_[end + 1];
      if (marker == 0xFF) return "fill bytes";
      if (marker != next_restart) {
        return marker >= kRst0 && marker <= kRst7 ? "restart marker out of order"sv
                                                  : "restart marker missing"sv;
      }
      next_restart = next_restart == kRst7 ? kRst0 : static_cast<uint8_t>(next_restart + 1);
      at_ = end + 2;
    }
    const uint8_t marker = bytes_[at_ + 1];
    return marker >= kRst0 && marker <= kRst7 ? "too many restart markers"sv : ""sv;
  }

  static bool starts_with(std::span<const uint8_t> payload, std::string_view text) {
    return payload.size() >= text.size() &&
           std::memcmp(payload.data(), text.data(), text.size()) == 0;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  JpegFacts facts_;
  ScanRules rules_;
  uint16_t interval_ = 0;
  bool jfif_ = false;
  bool exif_ = false;
};

}  // namespace

JpegFacts scan_jpeg(std::span<const uint8_t> bytes) {
  return Walk(bytes).run();
}

std::string_view name(JpegCoding coding) {
  constexpr std::string_view kNames[] = {"none",       "baseline", "extended",    "progressive",
                                         "arithmetic", "lossless", "hierarchical"};
  return kNames[static_cast<size_t>(coding)];
}

std::string_view name(JpegColour colour) {
  constexpr std::string_view kNames[] = {"unknown", "gray", "ycc", "rgb", "cmyk", "ycck"};
  return kNames[static_cast<size_t>(colour)];
}

std::string_view sampling_name(const JpegFacts& facts) {
  if (facts.components == 1) return "4:0:0";
  if (facts.components != 3) return "other";
  const auto& [y, cb, cr, none] = facts.component;
  if (cb.h != cr.h || cb.v != cr.v || y.h % cb.h != 0 || y.v % cb.v != 0) return "other";
  switch (y.h / cb.h * 10 + y.v / cb.v) {
    case 11:
      return "4:4:4";
    case 21:
      return "4:2:2";
    case 22:
      return "4:2:0";
    case 12:
      return "4:4:0";
    case 41:
      return "4:1:1";
    case 42:
      return "4:1:0";
    default:
      return "other";
  }
}

}  // namespace yoload::decode
