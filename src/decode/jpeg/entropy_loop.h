// The entropy loop: AC symbols of up to four pictures in turn, so that the latencies of one hide
// behind the others'.
//
// A symbol depends on the one before it through three instructions: take bits for an index, load
// the entry, shift. That chain is 7 cycles long, while the work of a symbol takes a core half of
// that. Two unrelated pictures fill the gap. Everything is inlined into one function for each
// number of lanes, which the caller compiles for several instruction sets (entropy_dispatch.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "decode/jpeg/entropy_lane.h"
#include "decode/jpeg/zigzag.h"

namespace yoload::decode::jpeg {

inline constexpr int kSymbolsPerRefill = 3;
static_assert(kSymbolsPerRefill * kMostFusedBits <= 56 - 2);

/// Natural place by the zig-zag place that comes *after* a symbol, as it stands in BitReader::used.
/// An end of block or an escape stores a zero where the next coefficient would be, which is there
/// already; a run beyond the block stores something in a block that is lost anyway.
inline constexpr std::array<uint8_t, 256> kPlaceBehind = [] {
  std::array<uint8_t, 256> places{};
  for (size_t behind = 0; behind < places.size(); ++behind) {
    const size_t k = behind >= kEscapeMove       ? behind - kEscapeMove
                     : behind >= kEndOfBlockMove ? behind - kEndOfBlockMove
                     : behind == 0               ? 0
                                                 : behind - 1;
    places[behind] = kNaturalOrder[k < 63 ? k : 63];
  }
  return places;
}();

// Spelled out: GCC 12 makes `rep stos` of a memset of this size, 30 cycles.
YOLOAD_INLINE void clear(int16_t* block) {
  using Vector [[gnu::vector_size(32), gnu::may_alias]] = int16_t;
  auto* vectors = reinterpret_cast<Vector*>(block);
  vectors[0] = vectors[1] = vectors[2] = vectors[3] = Vector{};
}

/// Decodes the entry's symbol; returns its value.
YOLOAD_INLINE int use_entry(BitReader& reader, FusedEntry entry) {
  const uint64_t value_at_end = reader.bits >> ((0 - entry) & 63);
  const uint64_t behind = value_at_end & ((uint64_t{1} << ((entry >> 16) & 15)) - 1);
  reader.bits <<= entry & 63;
  reader.used += entry;
  return (static_cast<int32_t>(entry) >> 20) + static_cast<int>(behind);
}

/// The DC of the lane's current step. False: bad data.
YOLOAD_INLINE bool begin_block(Lane& lane, BitReader& reader, int16_t*& block,
                               const FusedEntry*& entries) {
  BlockStep& step = lane.step_of[static_cast<size_t>(lane.step)];
  block = step.next_block;
  entries = step.ac->entries();
  step.next_block = block + step.stride;
  clear(block);
  reader.used &= 0xFF;
  refill(reader);
  const FusedEntry entry = step.dc->entries()[reader.bits >> (64 - kLookUpBits)];
  int difference = 0;
  if (((entry >> 8) & 0xFF) == kEscapeMove) [[unlikely]] {
    const DcEscape escape = decode_dc_escape(*step.dc, reader);
    if (!escape.ok) return false;
    reader = escape.reader;
    difference = escape.difference;
    reader.used = (reader.used & 0xFF) | 1 << 8;
  } else {
    difference = use_entry(reader, entry);
  }
  *step.prediction += difference;
  block[0] = static_cast<int16_t>(*step.prediction);
  return true;
}

/// One AC symbol. True: the block ends, or the symbol needs more than its entry.
YOLOAD_INLINE bool symbol(BitReader& reader, int16_t* block, const FusedEntry* entries) {
  const FusedEntry entry = entries[reader.bits >> (64 - kLookUpBits)];
  const int value = use_entry(reader, entry);
  block[kPlaceBehind[place(reader)]] = static_cast<int16_t>(value);
  return (reader.used & 0xC000) != 0;
}

/// What symbol() left to do. False: the loop must stop for this lane.
YOLOAD_INLINE bool end_block(Lane& lane, BitReader& reader, int16_t*& block,
                             const FusedEntry*& entries) {
  uint32_t behind = place(reader);
  if (behind >= kEscapeMove) [[unlikely]] {
    const HuffmanTable& table = *lane.step_of[static_cast<size_t>(lane.step)].ac;
    const AcEscape escape = decode_escape(table, reader, block);
    reader = escape.reader;
    behind = escape.behind;
    if (behind != 0 && behind < 64) {
      reader.used = (reader.used & 0xFF) | behind << 8;
      return true;
    }
  }
  if (behind >= kEndOfBlockMove) {
    behind -= kEndOfBlockMove;
  } else if (behind != 64) [[unlikely]] {
    lane.state = Lane::State::failed;
    return false;
  }
  lane.last[(block - lane.blocks) / 64] = static_cast<uint8_t>(behind - 1);
  if (++lane.step == lane.steps) {
    lane.step = 0;
    // See CodedData::kPaddingBytes: ten blocks of 64 symbols of at most 27 bits, and the word read
    // ahead.
    static_assert(CodedData::kPaddingBytes >= 10 * 64 * 27 / 8 + 2 * 8 + 8);
    if (reader.next > lane.coded->end() + 8) [[unlikely]] {
      lane.state = Lane::State::failed;
      return false;
    }
    if (--lane.mcus_to_event == 0) [[unlikely]] {
      lane.reader = reader;
      const bool goes_on = end_of_row_or_segment(lane);
      reader = lane.reader;
      if (!goes_on) return false;
    }
  }
  if (!begin_block(lane, reader, block, entries)) [[unlikely]] {
    lane.state = Lane::State::failed;
    return false;
  }
  return true;
}

/// Until one of the lanes, all of them running, stops.
template <size_t... I>
YOLOAD_INLINE void decode_lanes(Lane* const* lanes, std::index_sequence<I...>) {
  constexpr size_t kLanes = sizeof...(I);
  BitReader reader[kLanes] = {lanes[I]->reader...};
  int16_t* block[kLanes] = {lanes[I]->block...};
  const FusedEntry* entries[kLanes] = {lanes[I]->entries...};
  bool more = true;
  while (more) {
    (refill(reader[I]), ...);
    // The lane whose symbol ends the round; its neighbours go on with the next round.
    size_t stopped = kLanes;
    const auto round = [&]() __attribute__((always_inline)) {
      return ((symbol(reader[I], block[I], entries[I]) ? (stopped = I, true) : false) || ...);
    };
    static_assert(kSymbolsPerRefill == 3);
    if (!(round() || round() || round())) continue;
    ((stopped == I ? void(more = end_block(*lanes[I], reader[I], block[I], entries[I])) : void()),
     ...);
  }
  ((lanes[I]->reader = reader[I], lanes[I]->block = block[I], lanes[I]->entries = entries[I]), ...);
}

}  // namespace yoload::decode::jpeg
