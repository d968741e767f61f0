// SPDX-License-Identifier: Apache-2.0
#include "decode_target.h"

using namespace std::string_view_literals;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  yoload::fuzz::decode_as("\xFF\xD8\xFF"sv, data, size);
  return 0;
}
