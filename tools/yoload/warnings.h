// Says on stderr what a loader found odd while opening its data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>

#include "yoload/loader.h"

namespace yoload::cli {

inline void print_warnings(const Loader& loader) {
  for (const std::string& warning : loader.warnings()) fmt::print(stderr, "warning: {}\n", warning);
}

}  // namespace yoload::cli
