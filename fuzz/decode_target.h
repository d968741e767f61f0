// The body of the picture fuzzers: bytes that begin with a format's signature, decoded both
// strictly and leniently under small limits, with every pixel read. SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "decode/decoder.h"

namespace yoload::fuzz {

inline void decode_as(std::string_view signature, const uint8_t* data, size_t bytes) {
  // Forced, so that no time is spent on finding the signature.
  std::vector<uint8_t> file(data, data + bytes);
  if (file.size() < signature.size()) return;
  std::copy(signature.begin(), signature.end(), file.begin());
  for (const OnCorrupt on_corrupt : {OnCorrupt::reject, OnCorrupt::accept}) {
    DecodeOptions options;
    options.on_corrupt = on_corrupt;
    options.scale_16bit = bytes % 2 != 0;
    options.limits = {
        .max_pixels = 1 << 18, .max_scans = 20, .max_memory_bytes = 64 << 20, .max_seconds = 2};
    const auto decoded = Decoder(options).decode(file, nullptr);
    if (!decoded.ok()) continue;
    const ImageView view = decoded->image.view();
    if (decoded->damaged && on_corrupt == OnCorrupt::reject) std::abort();
    uint32_t sum = 0;
    for (int c = 0; c < view.channels; ++c) {
      for (int y = 0; y < view.height_px; ++y) {
        for (int x = 0; x < view.width_px; ++x) sum += view.at(c, y, x);
      }
    }
    __asm__ volatile("" ::"r"(sum));  // keeps the reads
  }
}

}  // namespace yoload::fuzz
