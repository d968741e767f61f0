// SPDX-License-Identifier: Apache-2.0
#include "decode/sixteen_bit.h"

#include <fmt/format.h>

#include <algorithm>

namespace yoload::decode {
namespace {

// Fewer levels than this in the high byte are worth a warning.
constexpr int kFewLevels = 64;

bool last_is_alpha(int samples, int channels) {
  return samples != channels && (samples == 2 || samples == 4);
}

}  // namespace

size_t sixteen_bit_bytes(int width_px, int height_px, int samples, bool stretch) {
  const size_t row = static_cast<size_t>(width_px) * static_cast<size_t>(samples);
  return row * 3 + (stretch ? row * 2 * static_cast<size_t>(height_px) : 0);
}

SixteenBitRows::SixteenBitRows(Job& job, int samples)
    : job_(job),
      samples_(samples),
      colours_(samples - (last_is_alpha(samples, job.sink.channels()) ? 1 : 0)),
      stretch_(job.options.scale_16bit) {
  const size_t row = static_cast<size_t>(job.sink.width_px()) * static_cast<size_t>(samples);
  row_samples_ = row;
  narrow_.resize(row + kReadPadding);
  if (stretch_) kept_.reserve(row * static_cast<size_t>(job.sink.height_px()));
}

void SixteenBitRows::measure(const uint16_t* row) {
  for (int x = 0; x < job_.sink.width_px(); ++x, row += samples_) {
    for (int c = 0; c < colours_; ++c) {
      low_ = std::min(low_, row[c]);
      high_ = std::max(high_, row[c]);
    }
  }
}

uint8_t SixteenBitRows::reduce(uint16_t value) const {
  if (!stretch_) return static_cast<uint8_t>(value >> 8);
  const uint32_t range = std::max<uint32_t>(1, uint32_t{high_} - low_);
  const uint32_t above = std::clamp(value, low_, high_) - low_;
  return static_cast<uint8_t>((above * 255 + range / 2) / range);
}

void SixteenBitRows::put(int y, const uint16_t* row) {
  rows_ = y + 1;
  measure(row);
  if (stretch_) {
    kept_.insert(kept_.end(), row, row + row_samples_);
    return;
  }
  std::transform(row, row + row_samples_, narrow_.begin(), [&](uint16_t v) { return reduce(v); });
  job_.sink.put_samples(y, narrow_.data(), samples_);
}

void SixteenBitRows::finish() {
  if (rows_ == 0) return;
  if (stretch_) {
    const uint16_t* row = kept_.data();
    for (int y = 0; y < rows_; ++y, row += row_samples_) {
      std::transform(row, row + row_samples_, narrow_.begin(),
                     [&](uint16_t v) { return reduce(v); });
      job_.sink.put_samples(y, narrow_.data(), samples_);
    }
    return;
  }
  const int levels = (high_ >> 8) - (low_ >> 8) + 1;
  if (levels < kFewLevels) {
    job_.warn(
        fmt::format("16-bit samples use only {}..{}; their high byte leaves {} grey level{}: "
                    "consider scale_16bit",
                    low_, high_, levels, levels == 1 ? "" : "s"));
  }
}

}  // namespace yoload::decode
