// Finds and opens libnvjpeg, which comes with CUDA, with a pip package, or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/status.h"
#include "decode/cuda/nvjpeg_api.h"

namespace yoload {

struct NvjpegLibrary {
  nvjpeg::Api api;
  std::string path;  ///< of the file that was opened
  int version = 0;   ///< 13003 is 13.3
};

/// Opened once and kept until the process ends. Thread-safe.
///
/// `where` is a file or the folder that holds it; empty: what the environment variable
/// YOLOAD_NVJPEG names; else, in this order, a library that the process has already loaded (two
/// versions in one process would be one too many), the pip package beside yoload's own, the
/// system's search path, the toolkit's folder. The error names all that was tried.
Result<const NvjpegLibrary*> nvjpeg_library(const std::string& where = {});

}  // namespace yoload
