// SPDX-License-Identifier: Apache-2.0
#include "augment/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "augment/float16.h"
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

#if HWY_TARGET != HWY_SCALAR
/// Makes sectors (-255 .. 1275) positive, so that zeros can widen them.
constexpr int16_t kSectorBias = 2048;

/// 1 / x to a relative error of 2^-23.
template <class D>
HWY_INLINE hn::Vec<D> Reciprocal(D df, hn::Vec<D> x) {
#if HWY_TARGET <= HWY_AVX3
  // 14 exact bits and one Newton step cost a quarter of a division of 16 lanes.
  const auto guess = hn::ApproximateReciprocal(x);
  return hn::Mul(guess, hn::NegMulAdd(x, guess, hn::Set(df, 2.0f)));
#else
  return hn::Div(hn::Set(df, 1.0f), x);
#endif
}

/// Saturation and hue + 180 of 32-bit lanes.
///
/// Note [One reciprocal]. Both steps come from 1 / (value * range). N / v is never nearer to a half
/// than 1 / (2 v) (2 N = 2^13 * 255 or 2^14 * 15, so no v below 256 gives a tie), and three
/// roundings are off by N / v * 2^-22 at most, which is less: the rounded step is the exact one.
/// The sums after that are exact in 32-bit floats (21 bits), fused or not. A test goes through all
/// values and ranges.
/// `value` is at least 1; `biased_sector` is the sector plus kSectorBias.
template <class D32>
HWY_INLINE void SaturationAndHue(D32 d32, hn::Vec<D32> value, hn::Vec<D32> range,
                                 hn::Vec<D32> biased_sector, hn::Vec<D32>* sat, hn::Vec<D32>* hue) {
  const hn::RebindToFloat<D32> df;
  const auto v = hn::ConvertTo(df, value), range_f = hn::ConvertTo(df, range);
  const auto sector_f = hn::Sub(hn::ConvertTo(df, biased_sector), hn::Set(df, float{kSectorBias}));
  const auto r = hn::Max(range_f, hn::Set(df, 1.0f));
  const auto inverse = Reciprocal(df, hn::Mul(v, r));
  // Adding 1.5 * 2^23 leaves no fraction bits: the sum is rounded to a whole number.
  const auto magic = hn::Set(df, 12582912.0f);
  const auto rounded = [&](hn::Vec<decltype(df)> x)
                           HWY_ATTR { return hn::Sub(hn::Add(x, magic), magic); };
  const auto sat_step = rounded(hn::Mul(hn::Mul(r, inverse), hn::Set(df, 1044480.0f)));
  const auto hue_step = rounded(hn::Mul(hn::Mul(v, inverse), hn::Set(df, 122880.0f)));
  // floor(x + 1/2) for x in steps of 2^-12 is the nearest whole number to x + 2^-13; with the magic
  // sum it stands in the low bits of the float itself.
  const auto unit = hn::Set(df, 0x1p-12f);
  const auto whole = [&](hn::Vec<decltype(df)> x) HWY_ATTR {
    return hn::Sub(hn::BitCast(d32, hn::Add(x, magic)), hn::BitCast(d32, magic));
  };
  *sat = whole(hn::MulAdd(hn::Mul(range_f, unit), sat_step, hn::Set(df, 0x1p-13f)));
  *hue = whole(hn::MulAdd(hn::Mul(sector_f, unit), hue_step, hn::Set(df, 180.0f + 0x1p-13f)));
}
#endif

/// hsv_pixel on vectors of 16-bit lanes; only the two divisions need 32-bit floats.
void HsvRow(const PlanHsv& hsv, size_t n, uint8_t* r, uint8_t* g, uint8_t* b) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint16_t> du;
  const hn::RebindToSigned<decltype(du)> ds;
  const hn::Rebind<uint8_t, decltype(du)> d8;
  using U = hn::Vec<decltype(du)>;
  const auto turn = hn::Set(du, 180);
  // Hidden from the compiler: GCC 12 turns the product with a known 2184 into five shifts and
  // additions.
  uint16_t weight_scale = 2184;
  asm("" : "+r"(weight_scale));
  const auto scale = hn::Set(du, weight_scale);
  // (k mod 180) for k < 360: below 180 the difference wraps to something large.
  const auto wrapped = [&](U k) HWY_ATTR { return hn::Min(k, hn::Sub(k, turn)); };
  const auto gained = [&](U level, uint32_t gain_q15) HWY_ATTR {
    return hn::Min(hn::Set(du, 255), hn::MulHigh(hn::Add(level, level),
                                                 hn::Set(du, static_cast<uint16_t>(gain_q15))));
  };
  for (; i + hn::Lanes(du) <= n; i += hn::Lanes(du)) {
    const auto load = [&](const uint8_t* from)
                          HWY_ATTR { return hn::PromoteTo(ds, hn::LoadU(d8, from + i)); };
    const auto red = load(r), green = load(g), blue = load(b);
    const auto value = hn::Max(hn::Max(red, green), blue);
    const auto range = hn::Sub(value, hn::Min(hn::Min(red, green), blue));
    const auto two = hn::Add(range, range);
    const auto sector =
        hn::IfThenElse(hn::Eq(value, red), hn::Sub(green, blue),
                       hn::IfThenElse(hn::Eq(value, green), hn::Add(hn::Sub(blue, red), two),
                                      hn::Add(hn::Sub(red, green), hn::Add(two, two))));
    // Widening and narrowing both work within 128-bit blocks, which costs less than across the
    // vector.
    const hn::RepartitionToWide<decltype(ds)> d32;
    const auto zero = hn::Zero(ds);
    const auto low = [&](hn::Vec<decltype(ds)> x)
                         HWY_ATTR { return hn::BitCast(d32, hn::InterleaveLower(ds, x, zero)); };
    const auto high = [&](hn::Vec<decltype(ds)> x)
                          HWY_ATTR { return hn::BitCast(d32, hn::InterleaveUpper(ds, x, zero)); };
    const auto positive = hn::Max(value, hn::Set(ds, 1)),
               biased = hn::Add(sector, hn::Set(ds, kSectorBias));
    hn::Vec<decltype(d32)> sat_low, sat_high, hue_low, hue_high;
    SaturationAndHue(d32, low(positive), low(range), low(biased), &sat_low, &hue_low);
    SaturationAndHue(d32, high(positive), high(range), high(biased), &sat_high, &hue_high);
    const auto sat = hn::BitCast(du, hn::ReorderDemote2To(ds, sat_low, sat_high));
    auto hue = wrapped(hn::BitCast(du, hn::ReorderDemote2To(ds, hue_low, hue_high)));
    hue = wrapped(hn::Add(hue, hn::Set(du, static_cast<uint16_t>(hsv.hue_shift))));
    const auto new_sat = gained(sat, hsv.sat_gain_q15);
    const auto new_value = gained(hn::BitCast(du, value), hsv.val_gain_q15);
    const auto chroma = hn::Mul(new_value, new_sat);
    const auto store = [&](uint16_t offset, uint8_t* to) HWY_ATTR {
      const auto k = wrapped(hn::Add(hue, hn::Set(du, offset)));
      const auto weight =
          hn::Min(hn::Min(k, hn::SaturatedSub(hn::Set(du, 120), k)), hn::Set(du, 30));
      const auto scaled = hn::MulHigh(chroma, hn::Mul(weight, scale));
      const auto drop = hn::MulHigh(hn::Add(scaled, hn::Set(du, 130)), hn::Set(du, 257));
      hn::StoreU(hn::DemoteTo(d8, hn::BitCast(ds, hn::Sub(new_value, drop))), d8, to + i);
    };
    store(150, r), store(90, g), store(30, b);
  }
#endif
  for (; i < n; ++i) {
    const auto rgb = hsv_pixel(r[i], g[i], b[i], hsv);
    r[i] = rgb[0], g[i] = rgb[1], b[i] = rgb[2];
  }
}

void MixRow(const uint8_t* b, uint32_t weight_q16, size_t n, uint8_t* a) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const auto first = hn::Set(d32, weight_q16), second = hn::Set(d32, 65536 - weight_q16);
  size_t i = 0;
  for (; i + hn::Lanes(d32) <= n; i += hn::Lanes(d32)) {
    const auto x = hn::PromoteTo(d32, hn::LoadU(d8, a + i)),
               y = hn::PromoteTo(d32, hn::LoadU(d8, b + i));
    const auto sum = hn::ShiftRight<16>(hn::Add(hn::Mul(x, first), hn::Mul(y, second)));
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(hn::RebindToSigned<decltype(d32)>(), sum)), d8, a + i);
  }
  for (; i < n; ++i) a[i] = mixed(a[i], b[i], weight_q16);
}

void FloatRow(const uint8_t* levels, float mul, float add, size_t n, float* out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  size_t i = 0;
  for (; i + hn::Lanes(df) <= n; i += hn::Lanes(df)) {
    const auto level = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, levels + i)));
    hn::StoreU(hn::Add(hn::Mul(level, hn::Set(df, mul)), hn::Set(df, add)), df, out + i);
  }
  for (; i < n; ++i) out[i] = static_cast<float>(levels[i]) * mul + add;
}

void HalfRow(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  // vcvtps2ph rounds to nearest even, as to_float16 does.
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  const hn::RebindToUnsigned<decltype(dh)> du16;
  size_t i = 0;
  for (; i + hn::Lanes(df) <= n; i += hn::Lanes(df)) {
    const auto level = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, levels + i)));
    const auto value = hn::Add(hn::Mul(level, hn::Set(df, mul)), hn::Set(df, add));
    hn::StoreU(hn::BitCast(du16, hn::DemoteTo(dh, value)), du16, out + i);
  }
  for (; i < n; ++i) out[i] = to_float16(static_cast<float>(levels[i]) * mul + add);
#else
  // Without the instruction Highway truncates. 256 possible inputs: a table costs less than
  // converting every element.
  std::array<uint16_t, 256> table{};
  for (size_t level = 0; level < 256; ++level) {
    table[level] = to_float16(static_cast<float>(level) * mul + add);
  }
  for (size_t i = 0; i < n; ++i) out[i] = table[levels[i]];
#endif
}

void MedianRow(const uint8_t* const* rows, int size_px, size_t n, uint8_t* out) {
  const hn::ScalableTag<uint8_t> d;
  const auto one = hn::Set(d, 1);
  const auto half = hn::Set(d, static_cast<uint8_t>(size_px * size_px / 2));
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    // The median is the largest level with at most half of the window below it: found bit by bit.
    auto median = hn::Zero(d);
    for (int bit = 128; bit > 0; bit >>= 1) {
      const auto candidate = hn::Or(median, hn::Set(d, static_cast<uint8_t>(bit)));
      auto below = hn::Zero(d);
      for (int y = 0; y < size_px; ++y) {
        for (int x = 0; x < size_px; ++x) {
          const auto level = hn::LoadU(d, rows[y] + i + static_cast<size_t>(x));
          below = hn::IfThenElse(hn::Lt(level, candidate), hn::Add(below, one), below);
        }
      }
      median = hn::IfThenElse(hn::Gt(below, half), median, candidate);
    }
    hn::StoreU(median, d, out + i);
  }
}

void BlurRow(const uint8_t* const* rows, int size_px, size_t n, uint16_t* sums, uint8_t* out) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::RebindToSigned<decltype(d16)> ds;
  const size_t lanes = hn::Lanes(d16);
  for (size_t i = 0; i < n + static_cast<size_t>(size_px) - 1; i += lanes) {
    auto sum = hn::Zero(d16);
    for (int y = 0; y < size_px; ++y)
      sum = hn::Add(sum, hn::PromoteTo(d16, hn::LoadU(d8, rows[y] + i)));
    hn::StoreU(sum, d16, sums + i);
  }
  // round(sum / area) as one 16-bit product and a shift: exact for all sums of 3, 5 and 7 pixel
  // windows.
  const auto area = static_cast<uint32_t>(size_px * size_px);
  const int shift = size_px == 3 ? 2 : size_px == 5 ? 4 : 5;
  const auto inverse =
      hn::Set(d16, static_cast<uint16_t>(((uint32_t{65536} << shift) + area - 1) / area));
  const auto half = hn::Set(d16, static_cast<uint16_t>(area / 2));
  for (size_t i = 0; i < n; i += lanes) {
    auto sum = half;
    for (int x = 0; x < size_px; ++x)
      sum = hn::Add(sum, hn::LoadU(d16, sums + i + static_cast<size_t>(x)));
    const auto mean = hn::ShiftRightSame(hn::MulHigh(sum, inverse), shift);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(ds, mean)), d8, out + i);
  }
}

void ReverseRow(const uint8_t* in, size_t n, uint8_t* out) {
  std::reverse_copy(in, in + n, out);
}

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace yoload {

HWY_EXPORT(BlendRows);
HWY_EXPORT(SampleColumns);
HWY_EXPORT(HsvRow);
HWY_EXPORT(MixRow);
HWY_EXPORT(FloatRow);
HWY_EXPORT(HalfRow);
HWY_EXPORT(ReverseRow);
HWY_EXPORT(MedianRow);
HWY_EXPORT(BlurRow);

void blend_rows(const uint8_t* a, const uint8_t* b, int weight_q15, size_t n, ptrdiff_t ahead_bytes,
                int16_t* out) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(a, b, weight_q15, n, ahead_bytes, out);
}
void sample_columns(const int16_t* blended, const ColumnTable& table, ColumnRange range,
                    uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(SampleColumns)(blended, table, range, out);
}
void hsv_row(const PlanHsv& hsv, size_t n, uint8_t* r, uint8_t* g, uint8_t* b) {
  HWY_DYNAMIC_DISPATCH(HsvRow)(hsv, n, r, g, b);
}
void mix_row(const uint8_t* b, uint32_t weight_q16, size_t n, uint8_t* a) {
  HWY_DYNAMIC_DISPATCH(MixRow)(b, weight_q16, n, a);
}
void float_row(const uint8_t* levels, float mul, float add, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(FloatRow)(levels, mul, add, n, out);
}
void half_row(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(HalfRow)(levels, mul, add, n, out);
}
void reverse_row(const uint8_t* in, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ReverseRow)(in, n, out);
}

void median_row(const uint8_t* const* rows, int size_px, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(MedianRow)(rows, size_px, n, out);
}
void blur_row(const uint8_t* const* rows, int size_px, size_t n, uint16_t* sums, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(BlurRow)(rows, size_px, n, sums, out);
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
