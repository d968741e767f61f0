// Our own JPEG decoder against libjpeg-turbo: the same verdict, the same words, the same pixels,
// alone and beside another picture in flight. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "decode/decoder.h"

namespace {

using namespace yoload;

DecodeOptions options_for(JpegDecode jpeg, OnCorrupt on_corrupt, int channels) {
  DecodeOptions options;
  options.jpeg = jpeg;
  options.on_corrupt = on_corrupt;
  options.channels = channels;
  // No time limit: a verdict that depends on the clock cannot be compared.
  options.limits = {
      .max_pixels = 1 << 18, .max_scans = 20, .max_memory_bytes = 64 << 20, .max_seconds = 0};
  return options;
}

void require(bool condition) {
  if (!condition) std::abort();
}

void require_equal(const Result<Decoded>& ours, const Result<Decoded>& library) {
  require(ours.ok() == library.ok());
  if (!ours.ok()) {
    require(ours.status().code() == library.status().code());
    require(ours.status().message() == library.status().message());
    return;
  }
  require(ours->warning == library->warning && ours->damaged == library->damaged);
  const ImageView a = ours->image.view(), b = library->image.view();
  require(a.width_px == b.width_px && a.height_px == b.height_px && a.channels == b.channels);
  for (int c = 0; c < a.channels; ++c) {
    for (int y = 0; y < a.height_px; ++y) {
      require(std::equal(a.row(c, y), a.row(c, y) + a.width_px, b.row(c, y)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  if (file.size() < 4) return 0;
  const uint8_t start[] = {0xFF, 0xD8, 0xFF};
  std::copy(std::begin(start), std::end(start), file.begin());
  const int min_long_side_px = file.back() % 4 == 0 ? 16 : 0;
  const int channels = file.back() % 8 == 1 ? 1 : 3;
  const OnCorrupt on_corrupt = file.back() % 2 == 0 ? OnCorrupt::reject : OnCorrupt::accept;
  Decoder ours(options_for(JpegDecode::automatic, on_corrupt, channels));
  Decoder library(options_for(JpegDecode::libjpeg_turbo, on_corrupt, channels));
  const auto expected = library.decode(file, nullptr, min_long_side_px);
  // The second is in flight beside the first; what is left of the first must not matter to the
  // third.
  const std::vector<DecodeRequest> requests(3, DecodeRequest{file});
  ours.decode_many(requests, nullptr, min_long_side_px,
                   [&](size_t, Result<Decoded> decoded) { require_equal(decoded, expected); });
  return 0;
}
