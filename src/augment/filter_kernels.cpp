// SPDX-License-Identifier: Apache-2.0
#include "augment/filter_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/filter_kernels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload {

HWY_EXPORT(MedianRow);
HWY_EXPORT(BlurRow);

void median_row(const uint8_t* const* rows, int size_px, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(MedianRow)(rows, size_px, n, out);
}

void blur_row(const uint8_t* const* rows, int size_px, size_t n, uint16_t* sums, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(BlurRow)(rows, size_px, n, sums, out);
}

}  // namespace yoload
#endif  // HWY_ONCE
