// What happens to finished rows of levels: mixing, mirroring, conversion to floats.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace yoload {

/// a = mixed(a, b).
void mix_row(const uint8_t* b, uint32_t weight_q16, size_t n, uint8_t* a);

/// Levels to floats: level * mul + add.
void float_row(const uint8_t* levels, float mul, float add, size_t n, float* out);
void half_row(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out);
void bfloat_row(const uint8_t* levels, float mul, float add, size_t n, uint16_t* out);

/// out[i] = in[n - 1 - i]; the rows do not overlap.
void reverse_row(const uint8_t* in, size_t n, uint8_t* out);

}  // namespace yoload
