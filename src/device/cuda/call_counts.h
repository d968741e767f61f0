// Calls that steady state must not make: each of them can stop the whole GPU or the calling thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace yoload::device {

struct CallCounts {
  std::atomic<uint64_t> device_allocations{0};
  std::atomic<uint64_t> pinned_allocations{0};
  std::atomic<uint64_t> synchronisations{0};  ///< the CPU waited for the GPU
};

/// Of this process; everything under device/cuda counts here.
inline CallCounts& call_counts() {
  static CallCounts counts;
  return counts;
}

}  // namespace yoload::device
