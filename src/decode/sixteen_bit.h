// Reduces 16-bit rows to 8 bits: the high byte, or the used range stretched over 0..255.
//
// The high byte is what other loaders take. A 12-bit camera then leaves a handful of levels, so the
// used range is always measured, and reported when it is narrow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "decode/job.h"

namespace yoload::decode {

/// Memory beside the picture: stretching has to see all samples before it can write the first.
size_t sixteen_bit_bytes(int width_px, int height_px, int samples, bool stretch);

class SixteenBitRows {
 public:
  /// Rows have `samples` values a pixel, with the meaning of RowSink::put_samples. The sink has
  /// begun.
  SixteenBitRows(Job& job, int samples);
  /// Row `y`, in rising order, in the machine's byte order.
  void put(int y, const uint16_t* row);
  /// All rows are in: writes them when stretching, adds the warning.
  void finish();

 private:
  void measure(const uint16_t* row);
  uint8_t reduce(uint16_t value) const;

  Job& job_;
  const int samples_;
  const int colours_;  ///< samples without alpha
  const bool stretch_;
  uint16_t low_ = 65535;
  uint16_t high_ = 0;
  int rows_ = 0;
  size_t row_samples_ = 0;
  std::vector<uint16_t> kept_;  // H,W,samples, only when stretching
  std::vector<uint8_t> narrow_;
};

}  // namespace yoload::decode
