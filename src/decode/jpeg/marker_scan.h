// One fast pass over a whole JPEG that tells which decoder may have it.
//
// The GPU's JPEG engines give one status for a batch and say nothing about much that is broken. So
// they get only files whose structure is perfectly regular; everything else goes to the CPU decoder
// (decoder.h), whose verdict counts. Gives: certainty that the structure is whole. Does not give:
// certainty about the coded bits; a flipped bit passes unseen (docs/gpu-decode.md lists what that
// means), and only a full decode finds it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace yoload::decode {

enum class JpegCoding : uint8_t {
  none,  ///< no frame header seen
  baseline,
  extended,
  progressive,
  arithmetic,
  lossless,
  hierarchical
};

/// How the stored components are meant, by the rules that libjpeg follows.
enum class JpegColour : uint8_t { unknown, gray, ycc, rgb, cmyk, ycck };

struct JpegComponent {
  uint8_t id = 0;
  uint8_t h = 0, v = 0;  ///< sampling factors
  uint8_t quantisation_table = 0;
};

struct JpegFacts {
  JpegCoding coding = JpegCoding::none;
  JpegColour colour = JpegColour::unknown;
  uint8_t bits = 0;
  uint8_t components = 0;
  std::array<JpegComponent, 4> component{};
  int32_t width_px = 0, height_px = 0;  ///< as stored
  uint8_t orientation = 1;              ///< EXIF, 1..8
  uint16_t restart_interval = 0;        ///< MCUs, of the first scan; 0: none
  uint32_t scans = 0;
  int8_t adobe_transform = -1;     ///< -1: no Adobe segment
  bool wide_quantisation = false;  ///< a table of 16-bit values
  size_t end = 0;  ///< offset behind the end marker of the first picture; 0 without one
  /// Why the structure is not perfectly regular; empty for a whole file. Static text.
  std::string_view irregular;

  bool regular() const { return irregular.empty(); }
};

/// Looks at every byte once (162 KB: about 15 us). Never fails: what it cannot follow is
/// `irregular`.
JpegFacts scan_jpeg(std::span<const uint8_t> bytes);

std::string_view name(JpegCoding coding);
std::string_view name(JpegColour colour);

/// "4:4:4", "4:2:0", "4:0:0"..., or "other": the name of the sampling of a 1- or 3-component file.
std::string_view sampling_name(const JpegFacts& facts);

}  // namespace yoload::decode
