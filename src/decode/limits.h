// What one file may cost: pixels and memory before anything is allocated, CPU time while decoding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/image_info.h"
#include "core/status.h"
#include "yoload/options.h"

namespace yoload::decode {

/// A failure of this stage. The caller adds the path.
inline Status fail(Code code, std::string message) {
  return Status(code, Stage::decode, std::move(message));
}

/// Refuses empty pictures (corrupt) and pictures above `max_pixels` (limit).
Status check_size(const ImageInfo& info, const DecodeLimits& limits);
/// Refuses working memory above `max_memory_bytes`.
Status check_memory(size_t bytes, const DecodeLimits& limits);
Status scans_refused(const DecodeLimits& limits);
Status time_refused(const DecodeLimits& limits);

/// CPU time of the calling thread, counted from construction; also over once `cancelled` is set.
class CpuDeadline {
 public:
  explicit CpuDeadline(const DecodeLimits& limits, const std::atomic<bool>* cancelled = nullptr);
  /// A system call every 16th time, so that it may be asked per row.
  bool passed() {
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) return passed_ = true;
    if (limit_s_ <= 0 || ++asked_ % 16 != 0) return passed_;
    return passed_ = passed_ || now_s() - start_s_ > limit_s_;
  }

 private:
  static double now_s();
  double limit_s_;
  const std::atomic<bool>* cancelled_;
  double start_s_ = 0;
  uint32_t asked_ = 0;
  bool passed_ = false;
};

}  // namespace yoload::decode
