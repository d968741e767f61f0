// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/jpeg/ycc_rows.cpp"
#include <hwy/foreach_target.h>  // NOLINT: must come before highway.h
#include <hwy/highway.h>

#include "decode/jpeg/vector_pairs-inl.h"
#include "decode/jpeg/ycc_rows.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::decode::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if YOLOAD_FIXED_VECTORS

constexpr size_t kBytes = 2 * kLanes16;  // samples a vector of bytes

HWY_INLINE V16 Widened(const uint8_t* samples) {
  const hn::Half<D8> d;
  return hn::PromoteTo(D16(), hn::LoadU(d, samples));
}

HWY_INLINE V16 Threefold(V16 a) {
  return hn::Add(hn::Add(a, a), a);
}

void SumRows(const uint8_t* near, const uint8_t* far, int width, int16_t* sums) {
  const D16 d;
  for (size_t x = 0; x < static_cast<size_t>(width); x += kLanes16) {
    hn::StoreU(hn::Add(Threefold(Widened(near + x)), Widened(far + x)), d, sums + x);
  }
  sums[-1] = sums[0];
  sums[width] = sums[width - 1];
}

void BlendRows(const uint8_t* near, const uint8_t* far, int width, int rounding, uint8_t* out) {
  const D16 d;
  const hn::Half<D8> bytes;
  const V16 half = hn::Set(d, static_cast<int16_t>(rounding));
  for (size_t x = 0; x < static_cast<size_t>(width); x += kLanes16) {
    const V16 sum = hn::Add(Threefold(Widened(near + x)), Widened(far + x));
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<2>(hn::Add(sum, half))), bytes, out + x);
  }
}

struct EvenOdd {
  V16 even, odd;
};

// The filter along the row, sixteen times too large.
HWY_INLINE EvenOdd Filtered(const int16_t* sums, V16 even_rounding, V16 odd_rounding) {
  const D16 d;
  const V16 own = Threefold(hn::LoadU(d, sums));
  return {hn::Add(hn::Add(own, even_rounding), hn::LoadU(d, sums - 1)),
          hn::Add(hn::Add(own, odd_rounding), hn::LoadU(d, sums + 1))};
}

// In every 128 bits: e0 e1 .. e7 o0 o1 .. o7 -> e0 o0 e1 o1 .. e7 o7.
HWY_INLINE V8 Zipped(V8 halves) {
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 8,  1, 9,  2, 10, 3, 11,
                                                     4, 12, 5, 13, 6, 14, 7, 15};
  return hn::TableLookupBytes(halves, hn::LoadDup128(D8(), kOrder));
}

void WidenRow(const int16_t* sums, int width, Rounding rounding, uint8_t* out) {
  const D16 d;
  const V16 even_rounding = hn::Set(d, rounding.even);
  const V16 odd_rounding = hn::Set(d, rounding.odd);
  for (size_t x = 0; x < static_cast<size_t>(width); x += kLanes16) {
    const EvenOdd wide = Filtered(sums + x, even_rounding, odd_rounding);
    hn::StoreU(Zipped(PackUnsigned(hn::ShiftRight<4>(wide.even), hn::ShiftRight<4>(wide.odd))),
               D8(), out + 2 * x);
  }
}

struct Colours {
  V16 red, green, blue;
};

// ITU-T T.871: red = y + 1.402 cr, green = y - 0.344136 cb - 0.714136 cr, blue = y + 1.772 cb,
// where libjpeg has the factors in 1/65536 and rounds each product or sum of products once. `cb2`,
// `cr2` are the centred chroma doubled, `pairs` has cb in the low byte and cr in the high one.
//
// Red and blue: (2 c * k + 2^14) >> 15 is one instruction; k = 22971 and 29033 give libjpeg's
// result for all 256 c, although its factors have one bit more. Green: the factors halve without
// remainder, to 11277 = 44 * 256 + 13 and 23401 = 91 * 256 + 105, and floors nest, so that the low
// bytes' products can be cut before the high bytes' are added. Negated to keep the factors
// positive: y - floor((s + 16383) / 32768).
HWY_INLINE Colours Converted(V16 y, V16 cb2, V16 cr2, V16 pairs) {
  const D16 d;
  const V16 low = hn::Add(ByteProducts<13, 105>(pairs), hn::Set(d, 16383));
  const V16 sum = hn::Add(ByteProducts<44, 91>(pairs), hn::ShiftRight<8>(low));
  return {hn::Add(y, hn::MulFixedPoint15(cr2, hn::Set(d, 22971))),
          hn::Sub(y, hn::ShiftRight<7>(sum)),
          hn::Add(y, hn::MulFixedPoint15(cb2, hn::Set(d, 29033)))};
}

HWY_INLINE Colours ConvertedPairs(V16 y, V16 pairs) {
  const D16 d;
  const V16 cb2 = hn::ShiftRight<7>(hn::ShiftLeft<8>(pairs));
  const V16 cr2 = hn::ShiftRight<7>(hn::And(pairs, hn::Set(d, static_cast<int16_t>(0xFF00))));
  return Converted(y, cb2, cr2, pairs);
}

struct Pixels8 {
  V8 red, green, blue;
};

HWY_INLINE Pixels8 FullStep(V8 y, V8 cb_bytes, V8 cr_bytes) {
  const D8 d;
  const D16 d16;
  const V8 centre = hn::Set(d, 128);
  const V8 cb = hn::Xor(cb_bytes, centre);
  const V8 cr = hn::Xor(cr_bytes, centre);
  const auto lower = [&](V8 a, V8 b) { return hn::BitCast(d16, hn::InterleaveLower(d, a, b)); };
  const auto upper = [&](V8 a, V8 b) { return hn::BitCast(d16, hn::InterleaveUpper(d, a, b)); };
  const Colours first = ConvertedPairs(lower(y, hn::Zero(d)), lower(cb, cr));
  const Colours second = ConvertedPairs(upper(y, hn::Zero(d)), upper(cb, cr));
  return {PackUnsigned(first.red, second.red), PackUnsigned(first.green, second.green),
          PackUnsigned(first.blue, second.blue)};
}

// Even and odd pixels apart: that is how the filter delivers their chroma.
HWY_INLINE Pixels8 HalfStep(V8 y, const HalfChroma& chroma, size_t x) {
  const D8 d;
  const D16 d16;
  // - 128 after the division.
  const V16 even_rounding = hn::Set(d16, static_cast<int16_t>(chroma.rounding.even - 128 * 16));
  const V16 odd_rounding = hn::Set(d16, static_cast<int16_t>(chroma.rounding.odd - 128 * 16));
  const EvenOdd cb = Filtered(chroma.cb_sums + x, even_rounding, odd_rounding);
  const EvenOdd cr = Filtered(chroma.cr_sums + x, even_rounding, odd_rounding);
  const auto convert = [&](V16 luma, V16 cb16, V16 cr16) {
    const V16 centred_cb = hn::ShiftRight<4>(cb16);
    const V16 centred_cr = hn::ShiftRight<4>(cr16);
    const V8 cr_high = hn::BitCast(d, hn::ShiftLeft<8>(centred_cr));
    const V16 pairs = hn::BitCast(d16, hn::OddEven(cr_high, hn::BitCast(d, centred_cb)));
    return Converted(luma, hn::Add(centred_cb, centred_cb), hn::Add(centred_cr, centred_cr), pairs);
  };
  const V16 luma = hn::BitCast(d16, y);
  const hn::RebindToUnsigned<D16> du16;
  const V16 odd_luma = hn::BitCast(d16, hn::ShiftRight<8>(hn::BitCast(du16, y)));
  const Colours even = convert(hn::And(luma, hn::Set(d16, 255)), cb.even, cr.even);
  const Colours odd = convert(odd_luma, cb.odd, cr.odd);
  return {Zipped(PackUnsigned(even.red, odd.red)), Zipped(PackUnsigned(even.green, odd.green)),
          Zipped(PackUnsigned(even.blue, odd.blue))};
}

// Whole vectors; what is left of the row (at most 16 pixels, rows being padded to that) in a last
// one of which only the lower half is kept.
template <class Step>
HWY_INLINE void ForEachVector(int width_px, const Rows& rgb, const Step& step) {
  const D8 d;
  const size_t padded = (static_cast<size_t>(width_px) + 15) / 16 * 16;
  size_t x = 0;
  for (; x + kBytes <= padded; x += kBytes) {
    const Pixels8 pixels = step(x);
    hn::StoreU(pixels.red, d, rgb.first + x);
    hn::StoreU(pixels.green, d, rgb.second + x);
    hn::StoreU(pixels.blue, d, rgb.third + x);
  }
  if constexpr (kBytes > 16) {
    if (x == padded) return;
    const hn::Half<D8> half;
    const Pixels8 pixels = step(x);
    hn::StoreU(hn::LowerHalf(half, pixels.red), half, rgb.first + x);
    hn::StoreU(hn::LowerHalf(half, pixels.green), half, rgb.second + x);
    hn::StoreU(hn::LowerHalf(half, pixels.blue), half, rgb.third + x);
  }
}

void FullYccToRgb(int width_px, const ConstRows& ycc, const Rows& rgb) {
  const D8 d;
  ForEachVector(width_px, rgb, [&](size_t x) {
    return FullStep(hn::LoadU(d, ycc.first + x), hn::LoadU(d, ycc.second + x),
                    hn::LoadU(d, ycc.third + x));
  });
}

void HalfYccToRgb(int width_px, const uint8_t* luma, const HalfChroma& chroma, const Rows& rgb) {
  const D8 d;
  ForEachVector(width_px, rgb,
                [&](size_t x) { return HalfStep(hn::LoadU(d, luma + x), chroma, x / 2); });
}

#else

void SumRows(const uint8_t* near, const uint8_t* far, int width, int16_t* sums) {
  scalar::sum_rows(near, far, width, sums);
}
void BlendRows(const uint8_t* near, const uint8_t* far, int width, int rounding, uint8_t* out) {
  scalar::blend_rows(near, far, width, rounding, out);
}
void WidenRow(const int16_t* sums, int width, Rounding rounding, uint8_t* out) {
  scalar::widen_row(sums, width, rounding, out);
}
void FullYccToRgb(int width_px, const ConstRows& ycc, const Rows& rgb) {
  decode::scalar::ycc_to_rgb(width_px, ycc, rgb);
}
void HalfYccToRgb(int width_px, const uint8_t* luma, const HalfChroma& chroma, const Rows& rgb) {
  scalar::half_ycc_to_rgb(width_px, luma, chroma, rgb);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace yoload::decode::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload::decode::jpeg {

HWY_EXPORT(SumRows);
HWY_EXPORT(BlendRows);
HWY_EXPORT(WidenRow);
HWY_EXPORT(FullYccToRgb);
HWY_EXPORT(HalfYccToRgb);

void sum_rows(const uint8_t* near, const uint8_t* far, int width, int16_t* sums) {
  HWY_DYNAMIC_DISPATCH(SumRows)(near, far, width, sums);
}
void blend_rows(const uint8_t* near, const uint8_t* far, int width, int rounding, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(BlendRows)(near, far, width, rounding, out);
}
void widen_row(const int16_t* sums, int width, Rounding rounding, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(WidenRow)(sums, width, rounding, out);
}
void full_ycc_to_rgb(int width_px, const ConstRows& ycc, const Rows& rgb) {
  HWY_DYNAMIC_DISPATCH(FullYccToRgb)(width_px, ycc, rgb);
}
void half_ycc_to_rgb(int width_px, const uint8_t* luma, const HalfChroma& chroma, const Rows& rgb) {
  HWY_DYNAMIC_DISPATCH(HalfYccToRgb)(width_px, luma, chroma, rgb);
}

}  // namespace yoload::decode::jpeg
#endif
