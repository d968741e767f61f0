// SPDX-License-Identifier: Apache-2.0
#include "decode_target.h"

// The signature has the file's size in the middle; the fuzzer finds the rest from the seeds.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 12) return 0;
  std::vector<uint8_t> file(data, data + size);
  constexpr std::string_view kKind = "WEBP";
  std::copy(kKind.begin(), kKind.end(), file.begin() + 8);
  yoload::fuzz::decode_as("RIFF", file.data(), file.size());
  return 0;
}
