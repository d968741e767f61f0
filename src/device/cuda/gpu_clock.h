// How long the GPU was busy with what: pairs of timing events, read when they have passed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "device/cuda/check.h"

namespace yoload::device {

/// Thread-safe. Spans on different streams may overlap, so their sum can exceed the wall clock.
class GpuClock {
 public:
  struct Total {
    uint64_t spans = 0, items = 0, bytes = 0;
    double busy_s = 0;
    std::vector<float> ms;  ///< the last kKept spans
  };

  GpuClock() = default;
  ~GpuClock() {
    for (const Span& span : pending_) cudaEventDestroy(span.start), cudaEventDestroy(span.end);
    for (const auto& [start, end] : spare_) cudaEventDestroy(start), cudaEventDestroy(end);
  }
  GpuClock(const GpuClock&) = delete;
  GpuClock& operator=(const GpuClock&) = delete;

  /// Runs `enqueue`, which puts work into `stream`, between two events.
  template <class Enqueue>
  void time(cudaStream_t stream, uint64_t items, uint64_t bytes, const Enqueue& enqueue) {
    std::pair<cudaEvent_t, cudaEvent_t> events = take();
    check(cudaEventRecord(events.first, stream), "record an event");
    enqueue();
    check(cudaEventRecord(events.second, stream), "record an event");
    std::lock_guard lock(mutex_);
    pending_.push_back({events.first, events.second, items, bytes});
  }

  Total total() {
    std::lock_guard lock(mutex_);
    collect();
    return total_;
  }

 private:
  static constexpr size_t kKept = 256;
  struct Span {
    cudaEvent_t start, end;
    uint64_t items, bytes;
  };

  std::pair<cudaEvent_t, cudaEvent_t> take() {
    std::lock_guard lock(mutex_);
    collect();
    if (!spare_.empty()) {
      const auto events = spare_.back();
      spare_.pop_back();
      return events;
    }
    std::pair<cudaEvent_t, cudaEvent_t> events{};
    check(cudaEventCreate(&events.first), "make an event");
    check(cudaEventCreate(&events.second), "make an event");
    return events;
  }

  void collect() {
    while (!pending_.empty() && cudaEventQuery(pending_.front().end) == cudaSuccess) {
      const Span span = pending_.front();
      pending_.pop_front();
      float ms = 0;
      if (cudaEventElapsedTime(&ms, span.start, span.end) == cudaSuccess) {
        ++total_.spans;
        total_.items += span.items;
        total_.bytes += span.bytes;
        total_.busy_s += static_cast<double>(ms) * 1e-3;
        if (total_.ms.size() == kKept) total_.ms.erase(total_.ms.begin());
        total_.ms.push_back(ms);
      }
      spare_.emplace_back(span.start, span.end);
    }
  }

  std::mutex mutex_;
  std::deque<Span> pending_;
  std::vector<std::pair<cudaEvent_t, cudaEvent_t>> spare_;
  Total total_;
};

}  // namespace yoload::device
