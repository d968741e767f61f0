// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/row_kernels.cpp"
#include <hwy/foreach_target.h>  // NOLINT: must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "decode/row_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::decode {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors, then one that ends exactly at the row's end and overlaps its neighbour: no byte
// behind the row is written, because that may be a finished row of a picture stored bottom-up.
template <class Step, class Rest>
void for_each_vector(int width_px, int lanes, const Step& step, const Rest& rest) {
  int x = 0;
  for (; x + lanes <= width_px; x += lanes) step(x);
  if (x == width_px) return;
  if (width_px >= lanes) {
    step(width_px - lanes);
  } else {
    rest();
  }
}

void Split3(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  const hn::ScalableTag<uint8_t> d;
  for_each_vector(
      width_px, static_cast<int>(hn::Lanes(d)),
      [&](int x) {
        hn::Vec<decltype(d)> a, b, c;
        hn::LoadInterleaved3(d, pixels + 3 * static_cast<size_t>(x), a, b, c);
        hn::StoreU(a, d, first + x);
        hn::StoreU(b, d, second + x);
        hn::StoreU(c, d, third + x);
      },
      [&] { scalar::split_3(pixels, width_px, first, second, third); });
}

void Split4(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  const hn::ScalableTag<uint8_t> d;
  for_each_vector(
      width_px, static_cast<int>(hn::Lanes(d)),
      [&](int x) {
        hn::Vec<decltype(d)> a, b, c, unused;
        hn::LoadInterleaved4(d, pixels + 4 * static_cast<size_t>(x), a, b, c, unused);
        hn::StoreU(a, d, first + x);
        hn::StoreU(b, d, second + x);
        hn::StoreU(c, d, third + x);
      },
      [&] { scalar::split_4(pixels, width_px, first, second, third); });
}

void Merge3(const ConstRows& planes, int width_px, uint8_t* pixels) {
  const hn::ScalableTag<uint8_t> d;
  for_each_vector(
      width_px, static_cast<int>(hn::Lanes(d)),
      [&](int x) {
        hn::StoreInterleaved3(hn::LoadU(d, planes.first + x), hn::LoadU(d, planes.second + x),
                              hn::LoadU(d, planes.third + x), d,
                              pixels + 3 * static_cast<size_t>(x));
      },
      [&] { scalar::merge_3(planes, width_px, pixels); });
}

// The products need 23 bits, the lanes have 16. Red and blue: floor(a / 2 + 1/2) of a floored twice
// finer product equals libjpeg's rounding, because floors nest. Green: high halves plus the carries
// of the low halves. The integer parts of the factors are added apart to keep factors under 2^15.
template <class D16>
HWY_INLINE void YccStep(D16 d16, const ConstRows& ycc, const Rows& rgb, size_t x) {
  const hn::Rebind<uint8_t, D16> d8;
  const hn::RebindToUnsigned<D16> du16;
  const auto centre = hn::Set(d16, 128);
  const auto one = hn::Set(d16, 1);
  const auto y = hn::PromoteTo(d16, hn::LoadU(d8, ycc.first + x));
  const auto cb = hn::Sub(hn::PromoteTo(d16, hn::LoadU(d8, ycc.second + x)), centre);
  const auto cr = hn::Sub(hn::PromoteTo(d16, hn::LoadU(d8, ycc.third + x)), centre);
  const auto cb2 = hn::Add(cb, cb);
  const auto cr2 = hn::Add(cr, cr);
  // 1.402 = 1 + 26345 / 65536; 1.772 = 2 - 14942 / 65536.
  const auto red =
      hn::Add(cr, hn::ShiftRight<1>(hn::Add(hn::MulHigh(cr2, hn::Set(d16, 26345)), one)));
  const auto blue =
      hn::Add(cb2, hn::ShiftRight<1>(hn::Add(hn::MulHigh(cb2, hn::Set(d16, -14942)), one)));
  // -0.714 = -1 + 18734 / 65536.
  const auto from_cb = hn::Set(d16, -22554);
  const auto from_cr = hn::Set(d16, 18734);
  const auto low_cb = hn::BitCast(du16, hn::Mul(cb, from_cb));
  const auto low_cr = hn::BitCast(du16, hn::Mul(cr, from_cr));
  const auto low = hn::Add(low_cb, low_cr);
  const auto carry = hn::BitCast(d16, hn::VecFromMask(du16, hn::Lt(low, low_cb)));  // -1 or 0
  const auto half_up = hn::BitCast(d16, hn::ShiftRight<15>(low));
  const auto high = hn::Add(hn::MulHigh(cb, from_cb), hn::MulHigh(cr, from_cr));
  const auto green = hn::Sub(hn::Add(hn::Sub(high, carry), half_up), cr);
  hn::StoreU(hn::DemoteTo(d8, hn::Add(y, red)), d8, rgb.first + x);
  hn::StoreU(hn::DemoteTo(d8, hn::Add(y, green)), d8, rgb.second + x);
  hn::StoreU(hn::DemoteTo(d8, hn::Add(y, blue)), d8, rgb.third + x);
}

void YccToRgb(int width_px, const ConstRows& ycc, const Rows& rgb) {
  // At most 256 bits: full AVX-512 vectors between libjpeg-turbo's AVX2 code made the whole decode
  // 9 % slower on a Xeon of 2023 (decode_peer_bench).
  const hn::CappedTag<int16_t, 16> d;
  const hn::CappedTag<int16_t, 8> d_small;
  const size_t lanes = hn::Lanes(d);
  const size_t width = static_cast<size_t>(width_px);
  const size_t padded = (width + 15) / 16 * 16;
  size_t x = 0;
  for (; x + lanes <= padded; x += lanes) YccStep(d, ycc, rgb, x);
  for (; x < width; x += hn::Lanes(d_small)) YccStep(d_small, ycc, rgb, x);
}

void Transpose16x16(const uint8_t* in, size_t in_stride_bytes, uint8_t* out,
                    size_t out_stride_bytes) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t y = 0; y < 16; ++y) {
    for (size_t x = 0; x < 16; ++x) out[x * out_stride_bytes + y] = in[y * in_stride_bytes + x];
  }
#else
  // Four perfect shuffles of 16 rows: each moves one bit of the row number into the column number.
  const hn::Full128<uint8_t> d;
  hn::Vec<decltype(d)> rows[16];
  hn::Vec<decltype(d)> next[16];
  for (size_t i = 0; i < 16; ++i) rows[i] = hn::LoadU(d, in + i * in_stride_bytes);
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < 8; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + 8]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + 8]);
    }
    for (size_t i = 0; i < 16; ++i) rows[i] = next[i];
  }
  for (size_t i = 0; i < 16; ++i) hn::StoreU(rows[i], d, out + i * out_stride_bytes);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace yoload::decode
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload::decode {

HWY_EXPORT(Split3);
HWY_EXPORT(Split4);
HWY_EXPORT(Merge3);
HWY_EXPORT(YccToRgb);
HWY_EXPORT(Transpose16x16);

void split_3(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  HWY_DYNAMIC_DISPATCH(Split3)(pixels, width_px, first, second, third);
}
void split_4(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  HWY_DYNAMIC_DISPATCH(Split4)(pixels, width_px, first, second, third);
}
void merge_3(const ConstRows& planes, int width_px, uint8_t* pixels) {
  HWY_DYNAMIC_DISPATCH(Merge3)(planes, width_px, pixels);
}
void ycc_to_rgb(int width_px, const ConstRows& ycc, const Rows& rgb) {
  HWY_DYNAMIC_DISPATCH(YccToRgb)(width_px, ycc, rgb);
}
void mirror(const uint8_t* row, int width_px, uint8_t* out) {
  std::reverse_copy(row, row + width_px, out);
}
void transpose_16x16(const uint8_t* in, size_t in_stride_bytes, uint8_t* out,
                     size_t out_stride_bytes) {
  HWY_DYNAMIC_DISPATCH(Transpose16x16)(in, in_stride_bytes, out, out_stride_bytes);
}

}  // namespace yoload::decode
#endif
