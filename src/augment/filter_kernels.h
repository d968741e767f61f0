// Blur and median of one row from the rows around it, with run-time dispatch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace yoload {

/// Median and mean of size x size windows (3, 5 or 7): out[i] belongs to columns i .. i + size - 1
/// of the `size` given rows. May read and write up to 64 bytes past n; `sums` has room for n + 128.
void median_row(const uint8_t* const* rows, int size_px, size_t n, uint8_t* out);
void blur_row(const uint8_t* const* rows, int size_px, size_t n, uint16_t* sums, uint8_t* out);

}  // namespace yoload
