// Walks the marker segments of a JPEG up to the first scan: size, kind of coding, EXIF orientation.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "decode/exif.h"
#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

using namespace std::string_view_literals;

constexpr uint32_t kSoi = 0xD8;
constexpr uint32_t kEoi = 0xD9;
constexpr uint32_t kSos = 0xDA;
constexpr uint32_t kApp1 = 0xE1;
constexpr std::string_view kExifName = "Exif\0\0"sv;

bool has_no_length(uint32_t marker) {
  return marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7) || marker == kSoi;
}

// SOF0..SOF15 without DHT, JPG and DAC, which share the range.
bool is_frame(uint32_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// ITU-T T.81 table B.1. Baseline, extended and progressive Huffman coding are the ones in use.
std::string_view unsupported_coding(uint32_t frame_marker) {
  switch (frame_marker) {
    case 0xC0:
    case 0xC1:
    case 0xC2:
      return {};
    case 0xC3:
      return "lossless JPEG (SOF3)";
    case 0xC9:
    case 0xCA:
    case 0xCB:
      return "arithmetic-coded JPEG";
    default:
      return "hierarchical JPEG";
  }
}

Status read_frame(ByteSource& source, uint64_t at, uint32_t marker, ImageInfo* info) {
  uint32_t bits = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t components = 0;
  if (!source.u8(at, &bits) || !source.u16(at + 1, true, &height) ||
      !source.u16(at + 3, true, &width) || !source.u8(at + 5, &components)) {
    return fail(Code::truncated, "JPEG ends inside its frame header");
  }
  if (const auto coding = unsupported_coding(marker); !coding.empty()) {
    return fail(Code::unsupported, fmt::format("{} is not decoded", coding));
  }
  if (bits != 8) return fail(Code::unsupported, fmt::format("{}-bit JPEG is not decoded", bits));
  if (components != 1 && components != 3 && components != 4) {
    return fail(Code::unsupported, fmt::format("JPEG with {} components", components));
  }
  if (height == 0 && width != 0) {
    return fail(Code::unsupported, "JPEG without a height in its header (DNL marker)");
  }
  info->width_px = static_cast<int32_t>(width);
  info->height_px = static_cast<int32_t>(height);
  info->channels = static_cast<int32_t>(components);
  info->bits = 8;
  info->whole_picture_state = marker == 0xC2;
  return {};
}

}  // namespace

Status read_jpeg_header(ByteSource& source, ImageInfo* info) {
  bool frame_seen = false;
  bool exif_seen = false;
  uint64_t at = 2;
  while (true) {
    // Encoders pad with 0xFF before a marker, and damaged ones leave other bytes; skip to the next
    // marker as libjpeg does. Every step moves forward, so the walk ends with the data.
    uint32_t byte = 0;
    if (!source.u8(at, &byte)) break;
    ++at;
    if (byte != 0xFF) continue;
    while (byte == 0xFF && source.u8(at, &byte)) ++at;
    const uint32_t marker = byte;
    if (marker == 0 || marker == 0xFF || has_no_length(marker)) continue;
    if (marker == kEoi) {
      return frame_seen ? Status() : fail(Code::corrupt, "JPEG without a picture");
    }
    uint32_t length = 0;
    if (!source.u16(at, true, &length)) break;
    if (is_frame(marker) && !frame_seen) {
      if (Status status = read_frame(source, at + 2, marker, info); !status.ok()) return status;
      frame_seen = true;
    } else if (marker == kApp1 && !exif_seen && length > 8 && source.matches(at + 2, kExifName)) {
      info->orientation = exif_orientation(source, at + 8, length - 8);
      exif_seen = true;
    } else if (marker == kSos) {
      // Nothing behind the first scan can change the orientation; a broken file is told by libjpeg.
      info->whole_picture_state |= frame_seen && info->channels > 1 && [&] {
        uint32_t scan_components = 0;
        return source.u8(at + 2, &scan_components) &&
               scan_components < static_cast<uint32_t>(info->channels);
      }();
      break;
    }
    if (length < 2) return fail(Code::corrupt, "JPEG segment shorter than its own length field");
    at += length;
  }
  if (frame_seen) return {};
  return at >= source.size() ? fail(Code::truncated, "JPEG ends before its frame header")
                             : fail(Code::corrupt, "JPEG scan without a frame header");
}

}  // namespace yoload::decode
