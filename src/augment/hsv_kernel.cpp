// SPDX-License-Identifier: Apache-2.0
#include "augment/hsv_kernel.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/hsv_kernel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "augment/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload {

HWY_EXPORT(HsvRow);

void hsv_row(const PlanHsv& hsv, size_t n, uint8_t* r, uint8_t* g, uint8_t* b) {
  HWY_DYNAMIC_DISPATCH(HsvRow)(hsv, n, r, g, b);
}

}  // namespace yoload
#endif  // HWY_ONCE
