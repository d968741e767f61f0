// SPDX-License-Identifier: Apache-2.0
#include "augment/column_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/column_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "augment/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void BlendRows(const uint8_t* a, const uint8_t* b, int weight_q15, size_t n, ptrdiff_t ahead_bytes,
               int16_t* out) {
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16);
  constexpr size_t kLineBytes = 64;
  for (size_t i = 0; i < n; i += kLineBytes) {
    hwy::Prefetch(reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(b) + i +
                                                   static_cast<uintptr_t>(ahead_bytes)));
  }
  const auto weight = hn::Set(d16, static_cast<int16_t>(weight_q15));
  if (weight_q15 == 0 || a == b) {
    for (size_t i = 0; i < n; i += lanes) {
      hn::StoreU(hn::ShiftLeft<7>(hn::PromoteTo(d16, hn::LoadU(d8, a + i))), d16, out + i);
    }
    return;
  }
  for (size_t i = 0; i < n; i += lanes) {
    const auto top = hn::PromoteTo(d16, hn::LoadU(d8, a + i));
    const auto bottom = hn::PromoteTo(d16, hn::LoadU(d8, b + i));
    const auto difference = hn::ShiftLeft<7>(hn::Sub(bottom, top));
    hn::StoreU(hn::Add(hn::ShiftLeft<7>(top), hn::MulFixedPoint15(difference, weight)), d16,
               out + i);
  }
}

/// A block by loading each pair of neighbours as one 32-bit word.
void SampleBlockByGather(const int16_t* base, const uint16_t* index, const int16_t* weight_q15,
                         uint8_t* out) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const hn::Rebind<int16_t, decltype(d32)> ds16;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  for (size_t i = 0; i < kColumnBlock; i += hn::Lanes(d32)) {
    const auto at = hn::BitCast(
        d32, hn::PromoteTo(hn::RebindToUnsigned<decltype(d32)>(), hn::LoadU(d16, index + i)));
    // Byte offsets: a pair starts at any 2-byte boundary.
    const auto pair =
        hn::GatherOffset(d32, reinterpret_cast<const int32_t*>(base), hn::Add(at, at));
    const auto left = hn::ShiftRight<16>(hn::ShiftLeft<16>(pair));
    const auto right = hn::ShiftRight<16>(pair);
    const auto weight = hn::PromoteTo(d32, hn::LoadU(ds16, weight_q15 + i));
    const auto product = hn::Mul(hn::Sub(right, left), weight);
    const auto rounded = hn::ShiftRight<15>(hn::Add(product, hn::Set(d32, 0x4000)));
    const auto value = hn::ShiftRight<7>(hn::Add(hn::Add(left, rounded), hn::Set(d32, 64)));
    hn::StoreU(hn::DemoteTo(d8, value), d8, out + i);
  }
}

#if HWY_TARGET <= HWY_AVX3
/// Levels of a block that reads at most 64 entries: two table look-ups in registers replace 32
/// loads.
HWY_INLINE hn::Vec<hn::FixedTag<int16_t, 32>> NarrowLevels(const int16_t* blended,
                                                           const ColumnTable& table, size_t at) {
  const hn::FixedTag<int16_t, 32> d16;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const int16_t* base = blended + table.block_base[at / kColumnBlock];
  const auto index = hn::LoadU(du16, &table.in_block[at]);
  const __m512i low = _mm512_loadu_si512(base), high = _mm512_loadu_si512(base + 32);
  const hn::Vec<decltype(d16)> left{_mm512_permutex2var_epi16(low, index.raw, high)};
  const hn::Vec<decltype(d16)> right{
      _mm512_permutex2var_epi16(low, hn::Add(index, hn::Set(du16, 1)).raw, high)};
  const auto value = hn::Add(
      left, hn::MulFixedPoint15(hn::Sub(right, left), hn::LoadU(d16, &table.weight_q15[at])));
  return hn::ShiftRight<7>(hn::Add(value, hn::Set(d16, 64)));
}
#endif

void SampleBlock(const int16_t* blended, const ColumnTable& table, size_t at, uint8_t* out) {
  const size_t block = at / kColumnBlock;
#if HWY_TARGET <= HWY_AVX3
  if (table.block_spread[block] == ColumnTable::Spread::narrow) {
    const hn::FixedTag<uint8_t, 32> d8;
    hn::StoreU(hn::DemoteTo(d8, NarrowLevels(blended, table, at)), d8, out);
    return;
  }
#endif
  if (table.block_spread[block] != ColumnTable::Spread::wide) {
    SampleBlockByGather(blended + table.block_base[block], &table.in_block[at],
                        &table.weight_q15[at], out);
    return;
  }
  for (size_t i = 0; i < kColumnBlock; ++i) {
    const int16_t* pair = blended + table.index[at + i];
    out[i] = level_of_q7(lerp_q7(pair[0], pair[1], table.weight_q15[at + i]));
  }
}

void SampleColumns(const int16_t* blended, const ColumnTable& table, ColumnRange range,
                   uint8_t* out) {
  size_t at = range.first;
#if HWY_TARGET <= HWY_AVX3
  // Two blocks at a time fill a whole vector of bytes; packing works within 128-bit lanes.
  const __m512i in_order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  for (; table.all_narrow && at + 2 * kColumnBlock <= range.last; at += 2 * kColumnBlock) {
    const __m512i packed = _mm512_packus_epi16(NarrowLevels(blended, table, at).raw,
                                               NarrowLevels(blended, table, at + kColumnBlock).raw);
    _mm512_storeu_si512(out + at, _mm512_permutexvar_epi64(in_order, packed));
  }
#endif
  for (; at + kColumnBlock <= range.last; at += kColumnBlock)
    SampleBlock(blended, table, at, out + at);
  if (at < range.last) {
    // The last block goes through a temporary: what lies behind a row may belong to another thread.
    HWY_ALIGN uint8_t part[kColumnBlock];
    SampleBlock(blended, table, at, part);
    std::copy_n(part, range.last - at, out + at);
  }
}

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload {

HWY_EXPORT(BlendRows);
HWY_EXPORT(SampleColumns);

void blend_rows(const uint8_t* a, const uint8_t* b, int weight_q15, size_t n, ptrdiff_t ahead_bytes,
                int16_t* out) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(a, b, weight_q15, n, ahead_bytes, out);
}

void sample_columns(const int16_t* blended, const ColumnTable& table, ColumnRange range,
                    uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(SampleColumns)(blended, table, range, out);
}

void ColumnTable::resize(size_t n) {
  columns = n;
  const size_t padded = (n + kColumnBlock - 1) / kColumnBlock * kColumnBlock;
  index.resize(padded);
  weight_q15.resize(padded);
}

void ColumnTable::finish() {
  for (size_t i = columns; i < index.size(); ++i) {
    index[i] = index[columns - 1];
    weight_q15[i] = 0;
  }
  block_base.clear();
  block_spread.clear();
  in_block.resize(index.size());
  all_narrow = true;
  for (size_t at = 0; at < index.size(); at += kColumnBlock) {
    const auto [low, high] = std::minmax_element(&index[at], &index[at] + kColumnBlock);
    block_base.push_back(*low);
    const int32_t spread = *high - *low;
    const bool narrow = spread <= 62;  // the right neighbour is one further
    block_spread.push_back(narrow             ? Spread::narrow
                           : spread <= 0xffff ? Spread::medium
                                              : Spread::wide);
    all_narrow = all_narrow && narrow;
    for (size_t i = at; i < at + kColumnBlock; ++i)
      in_block[i] = static_cast<uint16_t>(index[i] - block_base.back());
  }
}

}  // namespace yoload
#endif  // HWY_ONCE
