// CUDA's return codes as our errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "core/raise.h"
#include "core/status.h"

namespace yoload::device {

inline Status status_of(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  const Code kind = code == cudaErrorMemoryAllocation ? Code::out_of_memory : Code::device;
  return {kind, Stage::transfer, std::string(what) + ": " + cudaGetErrorString(code)};
}

/// Throws Error naming `what` was tried.
inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) {
    // An allocation that failed leaves the context usable; the error must not surface elsewhere.
    if (code == cudaErrorMemoryAllocation) cudaGetLastError();
    raise(status_of(code, what));
  }
}

}  // namespace yoload::device
