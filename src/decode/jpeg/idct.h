// Dequantisation and inverse DCT of rows of blocks, bit-identical to libjpeg-turbo's accurate
// integer transform.
//
// The transform is the one of Loeffler, Ligtenberg and Moschytz ("Practical fast 1-D DCT algorithms
// with 11 multiplications", ICASSP 1989): columns first, factors of 13 bits, two extra bits between
// the passes. Bit identity holds also for coefficients that no encoder writes; what that takes is
// in Note [Narrow sums].
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace yoload::decode::jpeg {

/// A quantisation table ready for vectors: every row of eight factors twice in a row.
struct alignas(64) Dequantisation {
  std::array<std::array<int16_t, 16>, 8> rows;
};
Dequantisation dequantisation(const std::array<uint16_t, 64>& table);

/// Transforms `count` blocks (64 coefficients each, natural order, 16-byte aligned) that lie side
/// by side, to eight rows of `out`. Whole pairs of blocks are written: up to a multiple of 16 bytes
/// a row. `last` as in McuRow: coefficients behind it must be zero.
void inverse_dct_row(const int16_t* blocks, const uint8_t* last, int count,
                     const Dequantisation& factors, uint8_t* out, size_t stride_bytes);

namespace scalar {
/// One block, plainly; `last` is not looked at.
void inverse_dct(const int16_t* block, const Dequantisation& factors, uint8_t* out,
                 size_t stride_bytes);
void inverse_dct_row(const int16_t* blocks, const uint8_t* last, int count,
                     const Dequantisation& factors, uint8_t* out, size_t stride_bytes);
}  // namespace scalar

}  // namespace yoload::decode::jpeg
