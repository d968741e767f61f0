// SPDX-License-Identifier: Apache-2.0
#include "augment/lab.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "augment/lab.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace yoload::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using D32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;
constexpr D32 kD32;
constexpr hn::Rebind<uint8_t, D32> kD8;

HWY_INLINE V32 Constant(int32_t value) {
  return hn::Set(kD32, value);
}
HWY_INLINE V32 Load(const uint8_t* from) {
  return hn::PromoteTo(kD32, hn::LoadU(kD8, from));
}
HWY_INLINE void Store(V32 value, uint8_t* to) {
  hn::StoreU(hn::DemoteTo(kD8, value), kD8, to);
}
HWY_INLINE V32 Dot(const int32_t (&row)[3], V32 x, V32 y, V32 z) {
  return hn::Add(hn::Add(hn::Mul(x, Constant(row[0])), hn::Mul(y, Constant(row[1]))),
                 hn::Mul(z, Constant(row[2])));
}
/// (value + half) >> kBits.
template <int kBits>
HWY_INLINE V32 Rounded(V32 value) {
  return hn::ShiftRight<kBits>(hn::Add(value, Constant(1 << (kBits - 1))));
}
/// Entries of a table of bytes or 16-bit words, by 32-bit loads that read past the entry.
template <class Entry>
HWY_INLINE V32 Look(const Entry* table, V32 index) {
  constexpr int kShift = sizeof(Entry) == 2 ? 1 : 0;
  const V32 words =
      hn::GatherOffset(kD32, reinterpret_cast<const int32_t*>(table), hn::ShiftLeft<kShift>(index));
  return hn::And(words, Constant(sizeof(Entry) == 2 ? 0xffff : 0xff));
}
/// The inverse of f(t), as in lab_to_rgb.
HWY_INLINE V32 Light(V32 f) {
  const hn::RebindToUnsigned<D32> du;
  const V32 line = Rounded<14>(hn::Mul(hn::Sub(f, Constant(4520)), Constant(2104)));
  // f * f may need the 32nd bit.
  const V32 square = hn::BitCast(
      kD32, hn::ShiftRight<17>(hn::Add(hn::BitCast(du, hn::Mul(f, f)), hn::Set(du, 1u << 16))));
  return hn::IfThenElse(hn::Lt(f, Constant(6780)), line, Rounded<13>(hn::Mul(square, f)));
}
#endif

void RgbToLabRow(const LabTables& tables, const uint8_t* r, const uint8_t* g, const uint8_t* b,
                 size_t n, uint8_t* l, uint8_t* a, uint8_t* b_out) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto linear = [&](const uint8_t* from) HWY_ATTR {
    return hn::GatherIndex(kD32, tables.linear.data(), Load(from + i));
  };
  for (; i + hn::Lanes(kD32) <= n; i += hn::Lanes(kD32)) {
    const V32 red = linear(r), green = linear(g), blue = linear(b);
    const auto root = [&](const int32_t(&row)[3]) HWY_ATTR {
      return Look(tables.root_q15.data(), Rounded<12>(Dot(row, red, green, blue)));
    };
    const V32 x = root(kToXyz[0]), y = root(kToXyz[1]), z = root(kToXyz[2]);
    const V32 half = Constant(128);
    Store(Rounded<15>(hn::Sub(hn::Mul(y, Constant(296)), Constant(1336934))), l + i);
    Store(hn::Add(half, Rounded<15>(hn::Mul(hn::Sub(x, y), Constant(500)))), a + i);
    Store(hn::Add(half, Rounded<15>(hn::Mul(hn::Sub(y, z), Constant(200)))), b_out + i);
  }
#endif
  for (; i < n; ++i) {
    const auto lab = rgb_to_lab(tables, r[i], g[i], b[i]);
    l[i] = lab[0], a[i] = lab[1], b_out[i] = lab[2];
  }
}

void LabToRgbRow(const LabTables& tables, const uint8_t* l, const uint8_t* a, const uint8_t* b,
                 size_t n, uint8_t* r, uint8_t* g, uint8_t* b_out) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + hn::Lanes(kD32) <= n; i += hn::Lanes(kD32)) {
    const V32 half = Constant(128);
    const V32 y = Rounded<8>(hn::Add(hn::Mul(Load(l + i), Constant(28359)), Constant(1157049)));
    const V32 x = hn::Add(y, Rounded<8>(hn::Mul(hn::Sub(Load(a + i), half), Constant(16777))));
    const V32 z = hn::Sub(y, Rounded<8>(hn::Mul(hn::Sub(Load(b + i), half), Constant(41943))));
    const V32 light_x = Light(x), light_y = Light(y), light_z = Light(z);
    const auto store = [&](const int32_t(&row)[3], uint8_t* to) HWY_ATTR {
      const V32 linear = Rounded<13>(Dot(row, light_x, light_y, light_z));
      const V32 index = hn::Min(hn::Max(linear, Constant(0)), Constant(LabTables::kSrgbSteps));
      Store(Look(tables.srgb.data(), index), to + i);
    };
    store(kFromXyz[0], r), store(kFromXyz[1], g), store(kFromXyz[2], b_out);
  }
#endif
  for (; i < n; ++i) {
    const auto rgb = lab_to_rgb(tables, l[i], a[i], b[i]);
    r[i] = rgb[0], g[i] = rgb[1], b_out[i] = rgb[2];
  }
}

}  // namespace
}  // namespace yoload::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

namespace yoload {
namespace {

/// The n-th root of x in (0, 1] by Newton's rule from `start` > 0.
double root(double x, int n, double start) {
  double y = start;
  for (int step = 0; step < 40; ++step) {
    double power = 1;  // y^(n - 1)
    for (int i = 1; i < n; ++i) power *= y;
    const double next = ((n - 1) * y + x / power) / n;
    if (next == y) break;
    y = next;
  }
  return y;
}

int32_t rounded(double value) {
  return static_cast<int32_t>(value + 0.5);
}

LabTables make_tables() {
  LabTables tables{};
  for (size_t level = 0; level < 256; ++level) {
    const double c = static_cast<double>(level) / 255;
    const double x = (c + 0.055) / 1.055, fifth = root(x, 5, 1);
    // x^2.4 = x^2 * (x^(1/5))^2.
    tables.linear[level] =
        rounded(LabTables::kLightSteps * (c <= 0.04045 ? c / 12.92 : x * x * fifth * fifth));
  }
  double cube_root = 1, twelfth = 1;  // of the entry before, to start from
  for (size_t i = 0; i <= LabTables::kLightSteps; ++i) {
    const double t = static_cast<double>(i) / LabTables::kLightSteps;
    if (i > 0) cube_root = root(t, 3, cube_root);
    tables.root_q15[i] =
        static_cast<uint16_t>(rounded(32768 * (t > 0.008856 ? cube_root : 7.787 * t + 16.0 / 116)));
  }
  for (size_t i = 0; i <= LabTables::kSrgbSteps; ++i) {
    const double t = static_cast<double>(i) / LabTables::kSrgbSteps;
    if (i > 0) twelfth = root(std::sqrt(std::sqrt(t)), 3, twelfth);
    // t^(1/2.4) = (t^(1/12))^5.
    const double power = twelfth * twelfth * twelfth * twelfth * twelfth;
    tables.srgb[i] =
        static_cast<uint8_t>(rounded(255 * (t <= 0.0031308 ? 12.92 * t : 1.055 * power - 0.055)));
  }
  return tables;
}

}  // namespace

HWY_EXPORT(RgbToLabRow);
HWY_EXPORT(LabToRgbRow);

const LabTables& lab_tables() {
  static const LabTables tables = make_tables();
  return tables;
}
void rgb_to_lab_row(const uint8_t* r, const uint8_t* g, const uint8_t* b, size_t n, uint8_t* l,
                    uint8_t* a, uint8_t* b_out) {
  HWY_DYNAMIC_DISPATCH(RgbToLabRow)(lab_tables(), r, g, b, n, l, a, b_out);
}
void lab_to_rgb_row(const uint8_t* l, const uint8_t* a, const uint8_t* b, size_t n, uint8_t* r,
                    uint8_t* g, uint8_t* b_out) {
  HWY_DYNAMIC_DISPATCH(LabToRgbRow)(lab_tables(), l, a, b, n, r, g, b_out);
}

}  // namespace yoload
#endif  // HWY_ONCE
