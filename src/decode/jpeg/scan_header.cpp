// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/scan_header.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "decode/jpeg/marker_scan.h"
#include "decode/jpeg/scan_rules.h"
#include "decode/jpeg/zigzag.h"

namespace yoload::decode::jpeg {
namespace {

using namespace std::string_view_literals;

using Payload = std::span<const uint8_t>;

constexpr int kMostSidePx = 65500;  // JPEG_MAX_DIMENSION

constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

bool starts_with(Payload payload, std::string_view text) {
  return payload.size() >= text.size() &&
         std::memcmp(payload.data(), text.data(), text.size()) == 0;
}

// Segment by segment. ScanRules judges each payload first, so that what is read here is well
// formed.
class HeaderWalk {
 public:
  HeaderWalk(Payload bytes, ScanHeader* header) : bytes_(bytes), header_(*header) {}

  bool run() {
    if (bytes_.size() < 4 || bytes_[0] != 0xFF || bytes_[1] != 0xD8) return false;
    size_t at = 2;
    while (true) {
      if (at >= bytes_.size() || bytes_[at] != 0xFF) return false;
      while (at < bytes_.size() && bytes_[at] == 0xFF) ++at;  // T.81 B.1.1.2: fill bytes
      if (bytes_.size() - at < 3) return false;
      const uint8_t marker = bytes_[at++];
      const auto length = static_cast<size_t>(bytes_[at] << 8 | bytes_[at + 1]);
      if (length < 2 || length > bytes_.size() - at) return false;
      const Payload payload = bytes_.subspan(at + 2, length - 2);
      at += length;
      if (marker == 0xDA) {
        header_.coded_at = at;
        return scan(payload);
      }
      if (!segment(marker, payload)) return false;
    }
  }

 private:
  bool segment(uint8_t marker, Payload payload) {
    switch (marker) {
      case 0xC0:
      case 0xC1:
        facts_.coding = marker == 0xC0 ? JpegCoding::baseline : JpegCoding::extended;
        return rules_.frame(payload, &facts_).empty();
      case 0xC4:
        if (!rules_.huffman_tables(payload).empty()) return false;
        keep_huffman_tables(payload);
        return true;
      case 0xDB:
        if (!rules_.quantisation_tables(payload, &facts_).empty()) return false;
        keep_quantisation_tables(payload);
        return true;
      case 0xDD:
        if (payload.size() != 2) return false;
        header_.frame.restart_interval = payload[0] << 8 | payload[1];
        return true;
      case 0xE0:
        if (payload.size() >= 14 && starts_with(payload, "JFIF\0"sv)) {
          jfif_ = true;
          return payload[5] == 1;  // libjpeg warns of other major versions
        }
        return true;
      case 0xEE:
        if (payload.size() >= 12 && starts_with(payload, "Adobe"sv)) {
          facts_.adobe_transform = static_cast<int8_t>(std::min<uint8_t>(payload[11], 127));
        }
        return true;
      default:
        return (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;
    }
  }

  void keep_huffman_tables(Payload payload) {
    while (!payload.empty()) {
      size_t codes = 0;
      for (size_t length = 1; length <= 16; ++length) codes += payload[length];
      auto& tables = payload[0] >> 4 == 0 ? header_.dc_tables : header_.ac_tables;
      tables[payload[0] & 15] = payload.subspan(1, 16 + codes);
      payload = payload.subspan(17 + codes);
    }
  }

  void keep_quantisation_tables(Payload payload) {
    while (!payload.empty()) {
      const size_t value_bytes = payload[0] >> 4 == 0 ? 1 : 2;
      auto& table = quantisation_[payload[0] & 15];
      for (size_t k = 0; k < 64; ++k) {
        const uint8_t* value = &payload[1 + k * value_bytes];
        table[kNaturalOrder[k]] =
            static_cast<uint16_t>(value_bytes == 1 ? value[0] : value[0] << 8 | value[1]);
      }
      payload = payload.subspan(1 + 64 * value_bytes);
    }
  }

  bool scan(Payload payload) {
    ScanShape shape;
    if (!rules_.scan(payload, facts_, &shape).empty()) return false;
    if (facts_.bits != 8 || (facts_.components != 1 && facts_.components != 3)) return false;
    if (payload[0] != facts_.components) return false;  // several scans
    // libjpeg warns of other values, and takes JFIF files at their word before it looks.
    if (facts_.components == 3 && !jfif_ && facts_.adobe_transform > 1) return false;
    for (size_t c = 0; c < facts_.components; ++c) {
      header_.dc_table[c] = payload[2 + 2 * c] >> 4;
      header_.ac_table[c] = payload[2 + 2 * c] & 15;
    }
    return lay_out();
  }

  bool lay_out() {
    Frame& frame = header_.frame;
    if (std::max(facts_.width_px, facts_.height_px) > kMostSidePx) return false;
    frame.width_px = facts_.width_px;
    frame.height_px = facts_.height_px;
    frame.components = facts_.components;
    switch (colour_of(facts_, jfif_)) {
      case JpegColour::gray:
        frame.colour = ColourModel::gray;
        break;
      case JpegColour::rgb:
        frame.colour = ColourModel::rgb;
        break;
      default:
        frame.colour = ColourModel::ycc;
    }
    const std::span<FrameComponent> components(frame.component.data(), facts_.components);
    for (size_t c = 0; c < components.size(); ++c) {
      const JpegComponent& stored = facts_.component[c];
      FrameComponent& component = components[c];
      // Alone in its scan, a component is coded block by block, whatever its factors (T.81 A.2.2).
      component.h = components.size() == 1 ? 1 : stored.h;
      component.v = components.size() == 1 ? 1 : stored.v;
      if (component.h > 2 || component.v > 2) return false;
      frame.max_h = std::max(frame.max_h, component.h);
      frame.max_v = std::max(frame.max_v, component.v);
      component.quantisation = quantisation_[stored.quantisation_table];
      if (std::ranges::count(component.quantisation, 0) != 0) return false;
    }
    frame.mcus_x = ceil_div(frame.width_px, 8 * frame.max_h);
    frame.mcus_y = ceil_div(frame.height_px, 8 * frame.max_v);
    for (FrameComponent& component : components) {
      component.blocks_x = frame.mcus_x * component.h;
      component.blocks_y = frame.mcus_y * component.v;
      component.width = ceil_div(frame.width_px * component.h, frame.max_h);
      component.height = ceil_div(frame.height_px * component.v, frame.max_v);
    }
    return true;
  }

  Payload bytes_;
  ScanHeader& header_;
  JpegFacts facts_;
  ScanRules rules_;
  std::array<std::array<uint16_t, 64>, 4> quantisation_{};
  bool jfif_ = false;
};

}  // namespace

bool read_scan_header(std::span<const uint8_t> bytes, ScanHeader* header) {
  *header = {};
  return HeaderWalk(bytes, header).run();
}

}  // namespace yoload::decode::jpeg
