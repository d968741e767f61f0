// SPDX-License-Identifier: Apache-2.0
#include "decode/limits.h"

#include <fmt/format.h>

#include <ctime>

namespace yoload::decode {

Status check_size(const ImageInfo& info, const DecodeLimits& limits) {
  if (info.width_px <= 0 || info.height_px <= 0) {
    return fail(Code::corrupt, fmt::format("{} with a size of {} x {} pixels", name(info.format),
                                           info.width_px, info.height_px));
  }
  const uint64_t pixels =
      static_cast<uint64_t>(info.width_px) * static_cast<uint64_t>(info.height_px);
  if (limits.max_pixels != 0 && pixels > limits.max_pixels) {
    return fail(Code::limit, fmt::format("{} x {} = {} pixels, more than max_pixels = {}",
                                         info.width_px, info.height_px, pixels, limits.max_pixels));
  }
  return {};
}

Status check_memory(size_t bytes, const DecodeLimits& limits) {
  if (limits.max_memory_bytes == 0 || bytes <= limits.max_memory_bytes) return {};
  return fail(Code::limit, fmt::format("decoding needs {} MB, more than max_memory_bytes = {} MB",
                                       (bytes >> 20) + 1, limits.max_memory_bytes >> 20));
}

Status scans_refused(const DecodeLimits& limits) {
  return fail(Code::limit, fmt::format("more scans than max_scans = {}", limits.max_scans));
}

Status time_refused(const DecodeLimits& limits) {
  return fail(Code::limit,
              fmt::format("takes longer than max_seconds = {} of CPU time", limits.max_seconds));
}

CpuDeadline::CpuDeadline(const DecodeLimits& limits, const std::atomic<bool>* cancelled)
    : limit_s_(limits.max_seconds), cancelled_(cancelled) {
  if (limit_s_ > 0) start_s_ = now_s();
}

double CpuDeadline::now_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace yoload::decode
