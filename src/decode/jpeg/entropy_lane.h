// The state of one picture inside the entropy loop, and the parts of the loop that are not hot.
//
// A lane is always inside a block, between two of its AC symbols: begin_block() has decoded the DC.
// Who owns lanes: CoefficientStream. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "decode/jpeg/huffman_table.h"
#include "decode/jpeg/unstuff.h"

namespace yoload::decode::jpeg {

#define YOLOAD_INLINE [[gnu::always_inline]] inline

/// The bits to come, top bit first. Names as in Note [Bits].
struct BitReader {
  uint64_t bits = 0;
  uint64_t used = 63;
  const uint8_t* next = nullptr;
};

// Note [Bits]. `bits` holds coming bits from its top bit on; the low byte of `used` is 63 minus how
// many of them are accounted for. What lies behind those may be right already, never wrong, so a
// refill ors the same bits in again and needs no mask (F. Giesen, "Reading bits in far too many
// ways", 2018, variant 4). The next byte of `used` belongs to the block: the zig-zag place that
// comes next, so that one addition of a FusedEntry moves both; what lies above them is rubbish
// until the next refill.
YOLOAD_INLINE void refill(BitReader& reader) {
  uint64_t word = 0;
  std::memcpy(&word, reader.next, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  reader.bits |= word >> (~reader.used & 63);
  reader.next += (reader.used >> 3) & 7;
  reader.used &= 0xFF07;
}

YOLOAD_INLINE uint32_t place(const BitReader& reader) {
  return static_cast<uint32_t>(reader.used >> 8) & 0xFF;
}

YOLOAD_INLINE void use(BitReader& reader, int bits) {
  reader.bits <<= bits;
  reader.used += static_cast<uint64_t>(bits);
}

/// One block of an MCU. Points to where that block of the next MCU goes.
struct BlockStep {
  const HuffmanTable* dc = nullptr;
  const HuffmanTable* ac = nullptr;
  int16_t* next_block = nullptr;
  int64_t stride = 0;  ///< coefficients from MCU to MCU
  int32_t* prediction = nullptr;
  int16_t* row_begin = nullptr;  ///< its block of a row's first MCU
};

struct Lane {
  enum class State : uint8_t { running, row_ready, failed };

  // Hot: copied to registers by the loop and back.
  BitReader reader;
  int16_t* block = nullptr;
  const FusedEntry* entries = nullptr;

  State state = State::failed;
  int step = 0, steps = 0;
  /// MCUs until a row or a restart interval ends, this one included.
  int mcus_to_event = 0;
  int mcus_left_in_row = 0, mcus_left_in_segment = 0, rows_left = 0;
  int mcus_in_segment = 0;
  size_t segment = 0;
  const CodedData* coded = nullptr;
  int16_t* blocks = nullptr;
  uint8_t* last = nullptr;
  std::array<int32_t, 3> prediction{};
  std::array<BlockStep, 10> step_of{};
};

/// Places the lane at the first block of the next row.
void begin_row(Lane& lane, int mcus_x);
/// Behind the last MCU of a row or of a restart interval. False: the loop must stop for this lane.
bool end_of_row_or_segment(Lane& lane);

// The readers go by value: one whose address leaves the loop would live in memory there.
struct AcEscape {
  BitReader reader;
  uint32_t behind;  ///< the place that comes next, as BitReader::used has it; 0 for bad data
};
/// Any AC symbol whose entry is an escape.
AcEscape decode_escape(const HuffmanTable& table, BitReader reader, int16_t* block);

struct DcEscape {
  BitReader reader;
  int difference;
  bool ok;
};
/// The same for a DC difference.
DcEscape decode_dc_escape(const HuffmanTable& table, BitReader reader);

}  // namespace yoload::decode::jpeg
