// What the segments of a JPEG have defined so far, and whether the next scan may follow from that.
//
// ITU-T T.81 clauses B.2 and G.1 as far as a decoder depends on them. A complaint is a static text;
// an empty one means that all is well. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "decode/jpeg/marker_scan.h"

namespace yoload::decode {

/// What a scan header promises about the coded data behind it.
struct ScanShape {
  uint64_t mcus = 0;
  /// No MCU can be coded in fewer; 0 where nothing is known (later scans of progressive files).
  uint32_t fewest_bits_per_mcu = 0;
};

/// libjpeg's rules: a JFIF segment beats an Adobe segment, which beats the components' names.
JpegColour colour_of(const JpegFacts& facts, bool jfif);

class ScanRules {
 public:
  // Each takes a segment's payload, behind its length.
  std::string_view quantisation_tables(std::span<const uint8_t> payload, JpegFacts* facts);
  std::string_view huffman_tables(std::span<const uint8_t> payload);
  std::string_view frame(std::span<const uint8_t> payload, JpegFacts* facts);
  std::string_view scan(std::span<const uint8_t> payload, const JpegFacts& facts, ScanShape* shape);

  /// Asked at the end marker: is every coefficient of every component there?
  std::string_view complete(const JpegFacts& facts) const;

 private:
  struct ScanComponent {
    int index;  // in the frame
    uint8_t dc_table, ac_table;
  };
  struct Band {
    int first, last, high, low;  // Ss, Se, Ah, Al
  };
  std::string_view check_tables(std::span<const ScanComponent> in_scan, Band band,
                                const JpegFacts& facts) const;
  std::string_view check_progression(std::span<const ScanComponent> in_scan, Band band,
                                     const JpegFacts& facts);
  ScanShape shape_of(std::span<const ScanComponent> in_scan, const JpegFacts& facts) const;

  static constexpr int8_t kUnseen = -1;
  std::array<bool, 4> quantisation_{};
  // Length of the shortest code; 0: no table. By class (0: DC) and number.
  std::array<std::array<uint8_t, 4>, 2> shortest_code_{};
  // Bits of a coefficient that are still missing, by component; kUnseen before its first scan.
  std::array<std::array<int8_t, 64>, 4> missing_bits_{};
};

}  // namespace yoload::decode
