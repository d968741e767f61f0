// Opens a loader for a command: progress while the data set is scanned, then what it found odd.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "yoload/loader.h"

namespace yoload::cli {

/// Throws what Loader's constructor throws. Progress and warnings go to stderr.
Loader open_loader(LoaderOptions options);

}  // namespace yoload::cli
