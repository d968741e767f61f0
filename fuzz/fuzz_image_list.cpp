// Image lists: any bytes give pictures that exist, or problems.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "dataset/discovery.h"
#include "file_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace yoload;
  PictureList list;
  if (!add_pictures(fuzzing::write("list.txt", data, bytes), list).ok()) return 0;
  for (const std::string& path : list.paths) {
    if (!std::filesystem::exists(path)) std::abort();
  }
  return 0;
}
