// SPDX-License-Identifier: Apache-2.0
#include "augment/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/kernels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "augment/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void BlendRows(const uint8_t* a, const uint8_t* b, int weight_q15, size_t n, int16_t* out) {
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16);
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

/// Any block, by loading each pair of neighbours as one 32-bit word.
void SampleBlockByGather(const int16_t* blended, const uint16_t* index, const int16_t* weight_q15,
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
        hn::GatherOffset(d32, reinterpret_cast<const int32_t*>(blended), hn::Add(at, at));
    const auto left = hn::ShiftRight<16>(hn::ShiftLeft<16>(pair));
    const auto right = hn::ShiftRight<16>(pair);
    const auto weight = hn::PromoteTo(d32, hn::LoadU(ds16, weight_q15 + i));
    const auto product = hn::Mul(hn::Sub(right, left), weight);
    const auto rounded = hn::ShiftRight<15>(hn::Add(product, hn::Set(d32, 0x4000)));
    const auto value = hn::ShiftRight<7>(hn::Add(hn::Add(left, rounded), hn::Set(d32, 64)));
    hn::StoreU(hn::DemoteTo(d8, value), d8, out + i);
  }
}

/// A block that reads at most 64 entries: two table look-ups in registers replace 32 loads.
void SampleNarrowBlock(const int16_t* base, uint16_t base_index, const uint16_t* index,
                       const int16_t* weight_q15, uint8_t* out) {
#if HWY_TARGET <= HWY_AVX3
  const hn::FixedTag<int16_t, 32> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const auto at = hn::Sub(hn::LoadU(du16, index), hn::Set(du16, base_index));
  const __m512i low = _mm512_loadu_si512(base), high = _mm512_loadu_si512(base + 32);
  const hn::Vec<decltype(d16)> left{_mm512_permutex2var_epi16(low, at.raw, high)};
  const hn::Vec<decltype(d16)> right{
      _mm512_permutex2var_epi16(low, hn::Add(at, hn::Set(du16, 1)).raw, high)};
  const auto value =
      hn::Add(left, hn::MulFixedPoint15(hn::Sub(right, left), hn::LoadU(d16, weight_q15)));
  hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<7>(hn::Add(value, hn::Set(d16, 64)))), d8, out);
#else
  SampleBlockByGather(base - base_index, index, weight_q15, out);
#endif
}

void SampleColumns(const int16_t* blended, const ColumnTable& table, uint8_t* out) {
  const size_t blocks = table.block_base.size();
  for (size_t block = 0; block < blocks; ++block) {
    const size_t at = block * kColumnBlock;
    const size_t count = std::min(kColumnBlock, table.columns - at);
    // The last block goes through a temporary: what lies behind a row may belong to another thread.
    HWY_ALIGN uint8_t part[kColumnBlock];
    uint8_t* to = count == kColumnBlock ? out + at : part;
    if (table.block_narrow[block] != 0) {
      SampleNarrowBlock(blended + table.block_base[block], table.block_base[block],
                        &table.index[at], &table.weight_q15[at], to);
    } else {
      SampleBlockByGather(blended, &table.index[at], &table.weight_q15[at], to);
    }
    if (to == part) std::copy_n(part, count, out + at);
  }
}

/// hsv_pixel on vectors of 32-bit floats: the same operations in the same order.
void HsvRow(const PlanHsv& hsv, size_t n, uint8_t* r, uint8_t* g, uint8_t* b) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  using F = hn::Vec<decltype(df)>;
  const size_t lanes = hn::Lanes(df);
  const auto zero = hn::Zero(df), half = hn::Set(df, 2048.0f), unit = hn::Set(df, 0x1p-12f);
  const auto turn = hn::Set(df, 180.0f);
  const auto shift = hn::Set(df, static_cast<float>(hsv.hue_shift));
  const auto sat_gain = hn::Set(di, static_cast<int32_t>(hsv.sat_gain_q15));
  const auto val_gain = hn::Set(di, static_cast<int32_t>(hsv.val_gain_q15));
  const auto wrapped = [&](F k) HWY_ATTR {
    return hn::IfThenElse(hn::Ge(k, turn), hn::Sub(k, turn), k);
  };
  const auto gained = [&](F level, hn::Vec<decltype(di)> gain) HWY_ATTR {
    const auto product = hn::ShiftRight<15>(hn::Mul(hn::ConvertTo(di, level), gain));
    return hn::Min(hn::Set(df, 255.0f), hn::ConvertTo(df, product));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto load = [&](const uint8_t* from) HWY_ATTR {
      return hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, from + i)));
    };
    const auto red = load(r), green = load(g), blue = load(b);
    const auto value = hn::Max(hn::Max(red, green), blue);
    const auto range = hn::Sub(value, hn::Min(hn::Min(red, green), blue));
    const auto sat_step = hn::IfThenElse(hn::Gt(value, zero),
                                         hn::Round(hn::Div(hn::Set(df, 1044480.0f), value)), zero);
    const auto sat = hn::Floor(hn::Mul(hn::Add(hn::Mul(range, sat_step), half), unit));
    const auto hue_step = hn::IfThenElse(hn::Gt(range, zero),
                                         hn::Round(hn::Div(hn::Set(df, 122880.0f), range)), zero);
    const auto two = hn::Add(range, range);
    const auto sector =
        hn::IfThenElse(hn::Eq(value, red), hn::Sub(green, blue),
                       hn::IfThenElse(hn::Eq(value, green), hn::Add(hn::Sub(blue, red), two),
                                      hn::Add(hn::Sub(red, green), hn::Add(two, two))));
    auto hue = hn::Floor(hn::Mul(hn::Add(hn::Mul(sector, hue_step), half), unit));
    hue = hn::IfThenElse(hn::Lt(hue, zero), hn::Add(hue, turn), hue);
    hue = wrapped(hn::Add(hue, shift));
    const auto new_sat = gained(sat, sat_gain), new_value = gained(value, val_gain);
    const auto chroma = hn::Mul(new_value, new_sat);
    const auto store = [&](float offset, uint8_t* to) HWY_ATTR {
      const auto k = wrapped(hn::Add(hue, hn::Set(df, offset)));
      const auto weight =
          hn::Min(hn::Max(hn::Min(k, hn::Sub(hn::Set(df, 120.0f), k)), zero), hn::Set(df, 30.0f));
      const auto drop =
          hn::Add(hn::Mul(hn::Mul(chroma, weight), hn::Set(df, 1.0f / 7650.0f)), hn::Set(df, 0.5f));
      hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(di, hn::Sub(new_value, hn::Floor(drop)))), d8,
                 to + i);
    };
    store(150, r), store(90, g), store(30, b);
  }
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

void ReverseRow(const uint8_t* in, size_t n, uint8_t* out) {
  std::reverse_copy(in, in + n, out);
}

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "augment/float16.h"

namespace yoload {

HWY_EXPORT(BlendRows);
HWY_EXPORT(SampleColumns);
HWY_EXPORT(HsvRow);
HWY_EXPORT(MixRow);
HWY_EXPORT(FloatRow);
HWY_EXPORT(ReverseRow);

void blend_rows(const uint8_t* a, const uint8_t* b, int weight_q15, size_t n, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(a, b, weight_q15, n, out);
}
void sample_columns(const int16_t* blended, const ColumnTable& table, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(SampleColumns)(blended, table, out);
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
  // 256 possible inputs: a table costs less than converting every element.
  std::array<uint16_t, 256> table{};
  for (size_t level = 0; level < 256; ++level) {
    table[level] = to_float16(static_cast<float>(level) * mul + add);
  }
  for (size_t i = 0; i < n; ++i) out[i] = table[levels[i]];
}
void reverse_row(const uint8_t* in, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ReverseRow)(in, n, out);
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
  block_narrow.clear();
  for (size_t at = 0; at < index.size(); at += kColumnBlock) {
    const auto [low, high] = std::minmax_element(&index[at], &index[at] + kColumnBlock);
    block_base.push_back(*low);
    block_narrow.push_back(*high - *low <= 62 ? 1 : 0);  // the right neighbour is one further
  }
}

}  // namespace yoload
#endif  // HWY_ONCE
