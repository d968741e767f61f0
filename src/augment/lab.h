// 8-bit CIE L*a*b* as OpenCV stores it (L * 255 / 100, a + 128, b + 128; sRGB, D65), in whole
// numbers: what CLAHE works on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device/host_device.h"

namespace yoload {

/// The curves of the conversion. Every entry is rounded from IEEE arithmetic without libm, so the
/// tables are equal on every machine.
struct LabTables {
  /// Linear light on the way to L*a*b*: OpenCV's 8-bit conversion keeps 2040 steps. More would be
  /// more accurate, but equalising L blows a difference of one level up to twenty.
  static constexpr int kLightSteps = 255 * 8;
  static constexpr int kSrgbSteps = 1 << 14;
  std::array<int32_t, 256> linear;                 ///< sRGB level -> light
  std::array<uint16_t, kLightSteps + 2> root_q15;  ///< light -> the f(t) of L*a*b*
  std::array<uint8_t, kSrgbSteps + 4> srgb;        ///< Q14 light -> sRGB level
};
/// Made on first use.
const LabTables& lab_tables();

/// Light to X, Y, Z over their white, and back, both Q12. Each row sums to one, so that a gray
/// stays exactly gray.
inline constexpr int32_t kToXyz[3][3] = {{1777, 1541, 778}, {871, 2929, 296}, {73, 448, 3575}};
inline constexpr int32_t kFromXyz[3][3] = {
    {12615, -6296, -2223}, {-3773, 7684, 185}, {217, -836, 4715}};

/// Device code may use numbers of the matrices as constants, but not the matrices.
template <size_t kRow>
using MatrixRow = std::integral_constant<size_t, kRow>;

/// One pixel; the row kernels do the same in vectors.
YOLOAD_HD inline std::array<uint8_t, 3> rgb_to_lab(const LabTables& tables, uint8_t r, uint8_t g,
                                                   uint8_t b) {
  const int32_t red = tables.linear[r], green = tables.linear[g], blue = tables.linear[b];
  const auto root = [&](auto of) {
    constexpr int32_t kRed = kToXyz[of()][0], kGreen = kToXyz[of()][1], kBlue = kToXyz[of()][2];
    const int32_t light = (red * kRed + green * kGreen + blue * kBlue + (1 << 11)) >> 12;
    return int32_t{tables.root_q15[static_cast<size_t>(light)]};
  };
  const int32_t x = root(MatrixRow<0>{}), y = root(MatrixRow<1>{}), z = root(MatrixRow<2>{});
  // L = 116 y - 16, times 2.55: 296 and 1336934 = 16 * 2.55 * 2^15.
  const int32_t l = (y * 296 - 1336934 + (1 << 14)) >> 15;
  const int32_t a = 128 + (((x - y) * 500 + (1 << 14)) >> 15);
  const int32_t b_out = 128 + (((y - z) * 200 + (1 << 14)) >> 15);
  const auto level = [](int32_t value) {
    return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  };
  return {level(l), level(a), level(b_out)};
}

YOLOAD_HD inline std::array<uint8_t, 3> lab_to_rgb(const LabTables& tables, uint8_t l, uint8_t a,
                                                   uint8_t b) {
  // (L / 2.55 + 16) / 116 in Q15: 28359 = 2^23 / 2.55 / 116, 1157049 = 2^23 * 16 / 116.
  const int32_t y = (l * 28359 + 1157049 + 128) >> 8;
  const int32_t x = y + (((a - 128) * 16777 + 128) >> 8);  // 16777 = 2^23 / 500
  const int32_t z = y - (((b - 128) * 41943 + 128) >> 8);  // 41943 = 2^23 / 200
  // The inverse of f: a cube, or a line below 6 / 29. Q15.
  const auto light = [](int32_t f) {
    if (f < 6780) return ((f - 4520) * 2104 + (1 << 13)) >> 14;
    const uint32_t square =
        (static_cast<uint32_t>(f) * static_cast<uint32_t>(f) + (1u << 16)) >> 17;
    return static_cast<int32_t>((square * static_cast<uint32_t>(f) + (1u << 12)) >> 13);
  };
  const int32_t lx = light(x), ly = light(y), lz = light(z);
  const auto channel = [&](auto of) {
    constexpr int32_t kX = kFromXyz[of()][0], kY = kFromXyz[of()][1], kZ = kFromXyz[of()][2];
    const int32_t linear = (lx * kX + ly * kY + lz * kZ + (1 << 12)) >> 13;
    constexpr int32_t kLast = LabTables::kSrgbSteps;
    return tables.srgb[static_cast<size_t>(linear < 0 ? 0 : linear > kLast ? kLast : linear)];
  };
  return {channel(MatrixRow<0>{}), channel(MatrixRow<1>{}), channel(MatrixRow<2>{})};
}

/// n pixels; the rows of one call do not overlap.
void rgb_to_lab_row(const uint8_t* r, const uint8_t* g, const uint8_t* b, size_t n, uint8_t* l,
                    uint8_t* a, uint8_t* b_out);
void lab_to_rgb_row(const uint8_t* l, const uint8_t* a, const uint8_t* b, size_t n, uint8_t* r,
                    uint8_t* g, uint8_t* b_out);

}  // namespace yoload
