// One Huffman table, laid out so that one look-up gives a whole coefficient.
//
// Note [Fused entries]. The next kLookUpBits bits of the data select an entry. For nearly every
// symbol it holds all that the loop needs: how many bits code and value take together, how far to
// move in the block, and the value as far as the look-up saw its bits. The value's remaining bits,
// if any, only add to it, because its sign is its first bit (T.81 F.1.2.1). So there is no branch
// on the kind of symbol. Two kinds need more than that, and their entries move the place in the
// block beyond 63, which the loop tests anyway: the end of block, and whatever does not fit (long
// codes, no code). SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace yoload::decode::jpeg {

inline constexpr int kLookUpBits = 11;

/// bits 0..7 bits used by code and value; 8..15 move; 16..19 bits of the value that lie behind the
/// look-up; 20..31 value (signed) if those are zero.
using FusedEntry = uint32_t;

// Added to a place of 1..63, the three kinds of move leave disjoint ranges.
inline constexpr uint32_t kEndOfBlockMove = 128;  ///< 129..191
inline constexpr uint32_t kEscapeMove = 192;      ///< 193..255; uses no bits

/// Code and value of one symbol must not take more to be fused: as many as the loop decodes between
/// two refills must fit into the bits that a refill guarantees (entropy_loop.h).
inline constexpr int kMostFusedBits = 18;

class HuffmanTable {
 public:
  enum class Kind : uint8_t { dc, ac };

  /// `spec`: 16 counts, then the symbols, as ScanRules::huffman_tables accepts them. The same bytes
  /// as the last time cost a comparison; other ones some microseconds.
  void build(std::span<const uint8_t> spec, Kind kind);

  const FusedEntry* entries() const { return entries_.data(); }

  struct Symbol {
    int code_bits;  ///< 0: no code begins with these bits
    uint8_t symbol;
  };
  /// The slow way, for any code: `next` holds the coming bits from its top bit on.
  Symbol find(uint64_t next) const;

  /// The same bytes and kind?
  bool is_built_from(std::span<const uint8_t> spec, Kind kind) const;
  std::span<const uint8_t> spec() const { return {spec_.data(), spec_bytes_}; }

 private:
  void fill_entries();

  alignas(64) std::array<FusedEntry, 1 << kLookUpBits> entries_{};
  // By code length: the first 16-bit pattern behind the codes of that length, and what leads from a
  // code to its symbol (T.81 F.2.2.3).
  std::array<uint32_t, 17> behind_{};
  std::array<int32_t, 17> symbol_of_code_zero_{};
  std::array<uint8_t, 16 + 256> spec_{};
  size_t spec_bytes_ = 0;
  Kind kind_ = Kind::dc;
};

/// The signed value whose `bits` stored bits are `stored` (T.81 F.2.2.1, EXTEND).
constexpr int extend(int stored, int bits) {
  return bits != 0 && stored < 1 << (bits - 1) ? stored - (1 << bits) + 1 : stored;
}

}  // namespace yoload::decode::jpeg
