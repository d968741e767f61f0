// Rows of a canvas to rows of an output: the vertical blend and the horizontal look-up, with
// run-time dispatch. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace yoload {

/// Outputs of a column table are made in blocks of this many.
inline constexpr size_t kColumnBlock = 32;

/// Which two neighbours of a blended row each output column mixes, and how: shared by all rows of a
/// sample.
struct ColumnTable {
  size_t columns = 0;
  std::vector<int32_t> index;  ///< left neighbour, into the blended row; padded to whole blocks
  std::vector<int16_t> weight_q15;  ///< of the right neighbour
  std::vector<int32_t> block_base;  ///< smallest index of a block
  std::vector<uint16_t> in_block;   ///< index minus the block's base, unless wide
  /// How far a block's indices spread decides how it is read.
  enum class Spread : uint8_t {
    narrow,  ///< at most 64 entries from the base on: fits two vector registers
    medium,  ///< in_block holds the indices
    wide,    ///< only pictures over 65,535 px shrunk to almost nothing: pixel by pixel
  };
  std::vector<Spread> block_spread;
  bool all_narrow = false;

  void resize(size_t n);
  /// Fills the padding and the block facts; call when index and weight_q15 are complete.
  void finish();
};

/// out[i] = Q7 blend of levels a[i] and b[i]. May read 63 bytes and write 63 entries past n.
/// `ahead_bytes` past b[i] is fetched into the cache meanwhile (any value is safe): tiles lie in
/// memory that no core has touched for hundreds of samples, and waiting for it costs more than the
/// arithmetic.
void blend_rows(const uint8_t* a, const uint8_t* b, int weight_q15, size_t n, ptrdiff_t ahead_bytes,
                int16_t* out);

/// Output columns [first, last).
struct ColumnRange {
  size_t first = 0;
  size_t last = 0;
};

/// The columns `range` of an output row: levels blended between neighbours of `blended`. `range`
/// begins at a block and ends at one or at the last column. Writes nothing else; may read 64
/// entries past the largest index.
void sample_columns(const int16_t* blended, const ColumnTable& table, ColumnRange range,
                    uint8_t* out);

}  // namespace yoload
