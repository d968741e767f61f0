// SPDX-License-Identifier: Apache-2.0
#include "augment/warp_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/warp_kernels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "augment/pixel.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void AffineRow(const InverseMap& map, int first_ox, int step, int oy, size_t n, int64_t* cx,
               int64_t* cy) {
  const CanvasPosition first = canvas_position(map, first_ox, oy);
  const int64_t dx = map.xx * step, dy = map.yx * step;
  for (size_t i = 0; i < n; ++i) {
    const auto steps = static_cast<int64_t>(i);
    cx[i] = first.x + dx * steps, cy[i] = first.y + dy * steps;
  }
}

/// Every product, sum and quotient is rounded once, in the order that plan.h gives.
void PerspectiveRow(const InverseMap& map, int first_ox, int step, int oy, size_t n, int64_t* cx,
                    int64_t* cy) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < n; ++i) {
    const CanvasPosition at = canvas_position(map, first_ox + static_cast<int>(i) * step, oy);
    cx[i] = at.x, cy[i] = at.y;
  }
#else
  const hn::CappedTag<double, 8> df;
  const hn::RebindToSigned<decltype(df)> di;
  using F = hn::Vec<decltype(df)>;
  const auto y = hn::Set(df, static_cast<double>(oy));
  // The part of a row that does not change: h[1] * oy and its like.
  const auto set = [&](size_t k) HWY_ATTR { return hn::Set(df, map.h[k]); };
  const F u_y = hn::Mul(set(1), y), v_y = hn::Mul(set(4), y), w_y = hn::Mul(set(7), y);
  const auto low = hn::Set(df, -0x1p50), high = hn::Set(df, 0x1p50);
  const auto fixed = [&](F value) HWY_ATTR {
    const F scaled = hn::Floor(hn::Mul(value, hn::Set(df, 0x1p32)));
    // The comparison is also false for NaN.
    return hn::ConvertTo(di, hn::IfThenElse(hn::Gt(scaled, low), hn::Min(scaled, high), low));
  };
  const auto first = hn::Set(df, static_cast<double>(first_ox)),
             stride = hn::Set(df, static_cast<double>(step));
  for (size_t i = 0; i < n; i += hn::Lanes(df)) {
    const F x = hn::Add(first, hn::Mul(stride, hn::Iota(df, static_cast<double>(i))));
    const F u = hn::Add(hn::Add(hn::Mul(set(0), x), u_y), set(2));
    const F v = hn::Add(hn::Add(hn::Mul(set(3), x), v_y), set(5));
    const F w = hn::Add(hn::Add(hn::Mul(set(6), x), w_y), set(8));
    hn::StoreU(fixed(hn::Div(u, w)), di, cx + i);
    hn::StoreU(fixed(hn::Div(v, w)), di, cy + i);
  }
#endif
}

uint8_t GatherPixel(const PlacedPlane& plane, int64_t cx, int64_t cy) {
  const auto x = static_cast<ptrdiff_t>((cx >> 32) - plane.offset_x);
  const auto y = static_cast<ptrdiff_t>((cy >> 32) - plane.offset_y);
  const auto stride = static_cast<ptrdiff_t>(plane.stride_bytes);
  const uint8_t* top = plane.pixels + y * stride + x;
  const uint8_t* bottom = y < plane.last_row ? top + stride : top;
  const int wy = weight_of_q32(cy);
  return level_of_q7(lerp_q7(lerp_q7(q7(top[0]), q7(bottom[0]), wy),
                             lerp_q7(q7(top[1]), q7(bottom[1]), wy), weight_of_q32(cx)));
}

#if HWY_TARGET != HWY_SCALAR
/// Lanes of pixels from position `i` on. Both columns of a pixel share its 32-bit lane, so one
/// 16-bit multiplication blends both vertically.
HWY_INLINE void GatherBlock(const PlacedPlane& plane, const int64_t* cx, const int64_t* cy,
                            uint8_t* out) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RebindToUnsigned<decltype(d32)> du32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  using V = hn::Vec<decltype(d32)>;
  const auto split = [&](const int64_t* from, V* whole, V* weight) HWY_ATTR {
    V low;
    hn::LoadInterleaved2(d32, reinterpret_cast<const int32_t*>(from), low, *whole);
    *weight = hn::BitCast(d32, hn::ShiftRight<17>(hn::BitCast(du32, low)));
  };
  V x, y, wx, wy;
  split(cx, &x, &wx);
  split(cy, &y, &wy);
  y = hn::Sub(y, hn::Set(d32, plane.offset_y));
  const V stride = hn::Set(d32, static_cast<int32_t>(plane.stride_bytes));
  const V top = hn::Add(hn::Mul(y, stride), hn::Sub(x, hn::Set(d32, plane.offset_x)));
  const V bottom =
      hn::Add(top, hn::IfThenElseZero(hn::Lt(y, hn::Set(d32, plane.last_row)), stride));
  // Four bytes from the left neighbour on; the first two become Q7 halves of the lane.
  const auto pair = [&](V offset) HWY_ATTR {
    const V bytes = hn::GatherOffset(d32, reinterpret_cast<const int32_t*>(plane.pixels), offset);
    const V left = hn::And(bytes, hn::Set(d32, 0xff));
    const V right = hn::ShiftLeft<8>(hn::And(bytes, hn::Set(d32, 0xff00)));
    return hn::BitCast(d16, hn::ShiftLeft<7>(hn::Or(left, right)));
  };
  const auto upper = pair(top), lower = pair(bottom);
  const auto wy_twice = hn::BitCast(d16, hn::Or(wy, hn::ShiftLeft<16>(wy)));
  const auto columns = hn::Add(upper, hn::MulFixedPoint15(hn::Sub(lower, upper), wy_twice));
  const auto right =
      hn::BitCast(d16, hn::ShiftRight<16>(hn::BitCast(du32, hn::BitCast(d32, columns))));
  // Only the low halves count from here on.
  const auto value =
      hn::Add(columns, hn::MulFixedPoint15(hn::Sub(right, columns), hn::BitCast(d16, wx)));
  const V levels = hn::ShiftRight<7>(
      hn::Add(hn::And(hn::BitCast(d32, value), hn::Set(d32, 0xffff)), hn::Set(d32, 64)));
  hn::StoreU(hn::DemoteTo(d8, levels), d8, out);
}
#endif

void GatherRow(const PlacedPlane& plane, const int64_t* cx, const int64_t* cy, size_t n,
               uint8_t* out) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const size_t lanes = hn::Lanes(hn::ScalableTag<int32_t>());
  if (n >= lanes) {
    for (; i + lanes <= n; i += lanes) GatherBlock(plane, cx + i, cy + i, out + i);
    // The rest overlaps with what is done: the same pixels once more cost less than a scalar tail.
    if (i < n) GatherBlock(plane, cx + n - lanes, cy + n - lanes, out + n - lanes);
    return;
  }
#endif
  for (; i < n; ++i) out[i] = GatherPixel(plane, cx[i], cy[i]);
}

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload {

HWY_EXPORT(AffineRow);
HWY_EXPORT(PerspectiveRow);
HWY_EXPORT(GatherRow);

void position_row(const InverseMap& map, int first_ox, int step, int oy, size_t n, int64_t* cx,
                  int64_t* cy) {
  if (map.kind == MapKind::perspective) {
    HWY_DYNAMIC_DISPATCH(PerspectiveRow)(map, first_ox, step, oy, n, cx, cy);
  } else {
    HWY_DYNAMIC_DISPATCH(AffineRow)(map, first_ox, step, oy, n, cx, cy);
  }
}
void gather_row(const PlacedPlane& plane, const int64_t* cx, const int64_t* cy, size_t n,
                uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(GatherRow)(plane, cx, cy, n, out);
}

}  // namespace yoload
#endif  // HWY_ONCE
