// SPDX-License-Identifier: Apache-2.0
#include "augment/store_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/store_kernels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "augment/bfloat16.h"
#include "augment/float16.h"
#include "augment/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

/// to_bfloat16 on vectors.
void BfloatRow(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint8_t, decltype(df)> d8;
  const hn::Rebind<uint16_t, decltype(df)> d16;
  size_t i = 0;
  for (; i + hn::Lanes(df) <= n; i += hn::Lanes(df)) {
    const auto level = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(d8, levels + i)));
    const auto value = hn::Add(hn::Mul(level, hn::Set(df, mul)), hn::Set(df, add));
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd));
    const auto kept = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)),
                                     hn::Set(du, uint32_t{kBfloat16Nan}), rounded);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, kept)), d16, out + i);
  }
  for (; i < n; ++i) out[i] = to_bfloat16(static_cast<float>(levels[i]) * mul + add);
}

void ReverseRow(const uint8_t* in, size_t n, uint8_t* out) {
  std::reverse_copy(in, in + n, out);
}

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload {

HWY_EXPORT(MixRow);
HWY_EXPORT(FloatRow);
HWY_EXPORT(HalfRow);
HWY_EXPORT(BfloatRow);
HWY_EXPORT(ReverseRow);

void mix_row(const uint8_t* b, uint32_t weight_q16, size_t n, uint8_t* a) {
  HWY_DYNAMIC_DISPATCH(MixRow)(b, weight_q16, n, a);
}

void float_row(const uint8_t* levels, float mul, float add, size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(FloatRow)(levels, mul, add, n, out);
}

void half_row(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(HalfRow)(levels, mul, add, n, out);
}

void bfloat_row(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(BfloatRow)(levels, mul, add, n, out);
}

void reverse_row(const uint8_t* in, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ReverseRow)(in, n, out);
}

}  // namespace yoload
#endif  // HWY_ONCE
