// The upper half of an IEEE single, rounded to nearest even.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace yoload {

/// What every NaN becomes.
inline constexpr uint16_t kBfloat16Nan = 0x7fff;

inline uint16_t to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return kBfloat16Nan;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace yoload
