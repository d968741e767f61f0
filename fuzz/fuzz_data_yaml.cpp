// data.yaml: refused or read, class count and names agree.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "dataset/data_yaml.h"
#include "file_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const auto yaml = yoload::load_data_yaml(yoload::fuzzing::write("data.yaml", data, bytes));
  if (yaml.ok() && static_cast<size_t>(yaml->nc) != yaml->names.size()) std::abort();
  return 0;
}
