// The order in which a block's coefficients are coded (T.81 figure A.6).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace yoload::decode::jpeg {

/// Natural (row-major) place of the k-th coefficient in zig-zag order.
inline constexpr std::array<uint8_t, 64> kNaturalOrder = [] {
  std::array<uint8_t, 64> natural{};
  int k = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal) {
    for (int i = 0; i <= diagonal; ++i) {
      const int row = diagonal % 2 == 0 ? diagonal - i : i;  // even diagonals run upwards
      const int column = diagonal - row;
      if (row < 8 && column < 8)
        natural[static_cast<size_t>(k++)] = static_cast<uint8_t>(row * 8 + column);
    }
  }
  return natural;
}();

static_assert(kNaturalOrder[1] == 1 && kNaturalOrder[2] == 8 && kNaturalOrder[63] == 63);

}  // namespace yoload::decode::jpeg
