// `yoload check`: every problem of a data set, with file, line and cause.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "yoload/commands.h"

namespace yoload::cli {

int run_check(const CheckCommand& command) {
  throw std::runtime_error(command.data + ": check is not in this build");
}

}  // namespace yoload::cli
