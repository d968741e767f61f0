// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/scan_rules.h"

#include <algorithm>

namespace yoload::decode {
namespace {

constexpr int kCoefficients = 64;

uint32_t be16(const uint8_t* p) {
  return static_cast<uint32_t>(p[0] << 8 | p[1]);
}

constexpr uint64_t ceil_div(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

bool is_sequential(JpegCoding coding) {
  return coding == JpegCoding::baseline || coding == JpegCoding::extended;
}

}  // namespace

JpegColour colour_of(const JpegFacts& facts, bool jfif) {
  switch (facts.components) {
    case 1:
      return JpegColour::gray;
    case 3:
      if (jfif) return JpegColour::ycc;
      if (facts.adobe_transform >= 0) {
        return facts.adobe_transform == 0 ? JpegColour::rgb : JpegColour::ycc;
      }
      return facts.component[0].id == 'R' && facts.component[1].id == 'G' &&
                     facts.component[2].id == 'B'
                 ? JpegColour::rgb
                 : JpegColour::ycc;
    default:
      return facts.adobe_transform > 0 ? JpegColour::ycck : JpegColour::cmyk;
  }
}

std::string_view ScanRules::quantisation_tables(std::span<const uint8_t> payload,
                                                JpegFacts* facts) {
  // Legal between scans, but which scan then uses which table is where decoders differ.
  if (facts->scans != 0) return "quantisation table behind the first scan";
  while (!payload.empty()) {
    const int wide = payload[0] >> 4;
    const size_t number = payload[0] & 15;
    const size_t table_bytes = 1 + size_t{kCoefficients} * (wide == 0 ? 1 : 2);
    if (wide > 1 || number > 3) return "quantisation table with an impossible number";
    if (payload.size() < table_bytes) return "quantisation table longer than its segment";
    facts->wide_quantisation |= wide == 1;
    quantisation_[number] = true;
    payload = payload.subspan(table_bytes);
  }
  return {};
}

std::string_view ScanRules::huffman_tables(std::span<const uint8_t> payload) {
  while (!payload.empty()) {
    if (payload.size() < 17) return "Huffman table longer than its segment";
    const size_t table_class = payload[0] >> 4;
    const size_t number = payload[0] & 15;
    if (table_class > 1 || number > 3) return "Huffman table with an impossible number";
    uint32_t codes = 0;
    uint32_t next_code = 0;
    uint8_t shortest = 0;
    for (uint8_t length = 1; length <= 16; ++length) {
      const uint8_t count = payload[length];
      codes += count;
      next_code += count;
      // No code may be all ones (T.81 annex C), so the next one must still fit.
      if (count != 0 && next_code >= uint32_t{1} << length)
        return "Huffman table with too many codes";
      if (count != 0 && shortest == 0) shortest = length;
      next_code <<= 1;
    }
    if (codes > 256) return "Huffman table with too many codes";
    if (payload.size() < 17 + codes) return "Huffman table longer than its segment";
    const auto symbols = payload.subspan(17, codes);
    // Sizes that 8-bit samples can need (T.81 tables F.1 and F.2).
    const bool possible = std::all_of(symbols.begin(), symbols.end(), [&](uint8_t symbol) {
      return table_class == 0 ? symbol <= 11 : (symbol & 15) <= 10;
    });
    if (!possible) return "Huffman table with impossible symbols";
    shortest_code_[table_class][number] = shortest;
    payload = payload.subspan(17 + codes);
  }
  return {};
}

std::string_view ScanRules::frame(std::span<const uint8_t> payload, JpegFacts* facts) {
  if (facts->components != 0) return "second frame header";
  if (payload.size() < 6) return "frame header too short";
  facts->bits = payload[0];
  facts->height_px = static_cast<int32_t>(be16(&payload[1]));
  facts->width_px = static_cast<int32_t>(be16(&payload[3]));
  const size_t components = payload[5];
  if (facts->width_px == 0 || facts->height_px == 0) return "no size in the frame header";
  if (components < 1 || components > 4 || components == 2) return "unusual number of components";
  if (payload.size() != 6 + 3 * components) return "frame header of wrong length";
  facts->components = static_cast<uint8_t>(components);
  for (size_t i = 0; i < components; ++i) {
    const uint8_t* at = &payload[6 + 3 * i];
    JpegComponent& component = facts->component[i];
    component = {at[0], static_cast<uint8_t>(at[1] >> 4), static_cast<uint8_t>(at[1] & 15), at[2]};
    if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4) {
      return "impossible sampling factor";
    }
    if (component.quantisation_table > 3) return "impossible quantisation table number";
    for (size_t other = 0; other < i; ++other) {
      if (facts->component[other].id == component.id) return "two components of the same name";
    }
    missing_bits_[i].fill(kUnseen);
  }
  return {};
}

std::string_view ScanRules::scan(std::span<const uint8_t> payload, const JpegFacts& facts,
                                 ScanShape* shape) {
  if (facts.components == 0) return "scan before the frame header";
  const size_t count = payload.empty() ? 0 : payload[0];
  if (count < 1 || count > facts.components || payload.size() != 4 + 2 * count) {
    return "scan header of wrong length";
  }
  std::array<ScanComponent, 4> all{};
  int last_index = -1;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t id = payload[1 + 2 * i];
    const uint8_t tables = payload[2 + 2 * i];
    int index = last_index + 1;  // the frame's order must be kept
    while (index < facts.components && facts.component[static_cast<size_t>(index)].id != id)
      ++index;
    if (index == facts.components) return "scan of a component that the frame lacks";
    last_index = index;
    all[i] = {index, static_cast<uint8_t>(tables >> 4), static_cast<uint8_t>(tables & 15)};
  }
  const std::span<const ScanComponent> in_scan(all.data(), count);
  int blocks = 0;
  for (const ScanComponent& component : in_scan) {
    const JpegComponent& in_frame = facts.component[static_cast<size_t>(component.index)];
    blocks += in_frame.h * in_frame.v;
  }
  if (count > 1 && blocks > 10) return "too many blocks in an MCU";  // T.81 B.2.3
  const uint8_t* tail = &payload[1 + 2 * count];
  const Band band{tail[0], tail[1], tail[2] >> 4, tail[2] & 15};
  if (auto why = check_tables(in_scan, band, facts); !why.empty()) return why;
  if (auto why = check_progression(in_scan, band, facts); !why.empty()) return why;
  *shape = shape_of(in_scan, facts);
  return {};
}

std::string_view ScanRules::check_tables(std::span<const ScanComponent> in_scan, Band band,
                                         const JpegFacts& facts) const {
  const bool sequential = is_sequential(facts.coding);
  const bool needs_dc = sequential || (band.first == 0 && band.high == 0);
  const bool needs_ac = sequential || band.first != 0;
  const uint8_t most = facts.coding == JpegCoding::baseline ? 1 : 3;
  for (const ScanComponent& component : in_scan) {
    if (component.dc_table > most || component.ac_table > most) {
      return "scan with an impossible Huffman table number";
    }
    if (needs_dc && shortest_code_[0][component.dc_table] == 0) return "Huffman table missing";
    if (needs_ac && shortest_code_[1][component.ac_table] == 0) return "Huffman table missing";
    const size_t quantisation =
        facts.component[static_cast<size_t>(component.index)].quantisation_table;
    if (!quantisation_[quantisation]) return "quantisation table missing";
  }
  return {};
}

// T.81 clause G.1.1.1: which bands and bits a progressive scan may bring, and in which order.
std::string_view ScanRules::check_progression(std::span<const ScanComponent> in_scan, Band band,
                                              const JpegFacts& facts) {
  if (is_sequential(facts.coding)) {
    if (band.first != 0 || band.last != 63 || band.high != 0 || band.low != 0) {
      return "scan header with impossible values";
    }
  } else {
    const bool dc = band.first == 0;
    if (dc ? band.last != 0 : band.last < band.first || band.last > 63 || in_scan.size() != 1) {
      return "scan header with impossible values";
    }
    if (band.low > 13 || (band.high != 0 && band.low != band.high - 1)) {
      return "scan header with impossible values";
    }
  }
  for (const ScanComponent& component : in_scan) {
    auto& missing = missing_bits_[static_cast<size_t>(component.index)];
    if (band.first != 0 && missing[0] == kUnseen) return "scan out of order";
    for (int k = band.first; k <= band.last; ++k) {
      int8_t& bits = missing[static_cast<size_t>(k)];
      const bool follows = band.high == 0 ? bits == kUnseen : bits == band.high;
      if (!follows) return "scan out of order";
      bits = static_cast<int8_t>(band.low);
    }
  }
  return {};
}

ScanShape ScanRules::shape_of(std::span<const ScanComponent> in_scan,
                              const JpegFacts& facts) const {
  uint8_t most_h = 1, most_v = 1;
  for (size_t i = 0; i < facts.components; ++i) {
    most_h = std::max(most_h, facts.component[i].h);
    most_v = std::max(most_v, facts.component[i].v);
  }
  const auto width = static_cast<uint64_t>(facts.width_px);
  const auto height = static_cast<uint64_t>(facts.height_px);
  ScanShape shape;
  if (in_scan.size() == 1) {
    // Alone in its scan, a component is coded block by block, whatever its factors (T.81 A.2.2).
    const JpegComponent& only = facts.component[static_cast<size_t>(in_scan[0].index)];
    shape.mcus = ceil_div(ceil_div(width * only.h, most_h), 8) *
                 ceil_div(ceil_div(height * only.v, most_v), 8);
  } else {
    shape.mcus = ceil_div(width, uint64_t{8} * most_h) * ceil_div(height, uint64_t{8} * most_v);
  }
  if (!is_sequential(facts.coding)) return shape;
  for (const ScanComponent& component : in_scan) {
    const JpegComponent& in_frame = facts.component[static_cast<size_t>(component.index)];
    const uint32_t blocks = in_scan.size() == 1 ? 1U : uint32_t{in_frame.h} * in_frame.v;
    // A block has one DC code and at least one AC code, the end of block.
    shape.fewest_bits_per_mcu += blocks * (uint32_t{shortest_code_[0][component.dc_table]} +
                                           shortest_code_[1][component.ac_table]);
  }
  return shape;
}

std::string_view ScanRules::complete(const JpegFacts& facts) const {
  for (size_t i = 0; i < facts.components; ++i) {
    for (const int8_t bits : missing_bits_[i]) {
      if (bits != 0) return "the file ends before its last scan";
    }
  }
  return {};
}

}  // namespace yoload::decode
