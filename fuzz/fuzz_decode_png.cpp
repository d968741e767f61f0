// SPDX-License-Identifier: Apache-2.0
#include "decode_target.h"

using namespace std::string_view_literals;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  yoload::fuzz::decode_as("\x89PNG\r\n\x1A\n"sv, data, size);
  return 0;
}
