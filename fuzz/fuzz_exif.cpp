// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "decode/exif.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  yoload::decode::MemorySource source({data, size});
  const int orientation = yoload::decode::exif_orientation(source, 0, size);
  if (orientation < 1 || orientation > 8) std::abort();
  return 0;
}
