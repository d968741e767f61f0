// Turns a Status into the exception of the public API.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/status.h"
#include "yoload/error.h"

namespace yoload {

[[noreturn]] inline void raise(const Status& status) {
  throw Error(status.to_string(), status.path(), std::string(name(status.stage())),
              status.message());
}

}  // namespace yoload
