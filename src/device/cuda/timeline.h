// Points in the GPU's work, numbered: what has to have happened before memory may be used again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "device/cuda/stream.h"

namespace yoload::device {

/// A point that some stream passes. 0 stands for "nothing to wait for".
using Ticket = uint64_t;

/// Thread-safe. Makes events as it needs them and uses them again once they have passed, so a run
/// that has warmed up makes none.
class Timeline {
 public:
  /// The point after everything that was put into `stream` so far.
  Ticket record(cudaStream_t stream) {
    std::lock_guard lock(mutex_);
    forget_passed();
    Event event = spare_.empty() ? Event() : std::move(spare_.back());
    if (!spare_.empty()) spare_.pop_back();
    event.record(stream);
    pending_.push_back({std::move(event), false});
    return first_ + pending_.size() - 1;
  }

  /// Has the GPU passed the point? Never waits.
  bool passed(Ticket ticket) {
    std::lock_guard lock(mutex_);
    return passed_locked(ticket);
  }

  /// Work put into `stream` from now on runs after the point. The CPU does not wait.
  void wait(cudaStream_t stream, Ticket ticket) {
    std::lock_guard lock(mutex_);
    if (passed_locked(ticket)) return;
    check(cudaStreamWaitEvent(stream, pending_[ticket - first_].event.get(), 0),
          "order two streams");
  }

 private:
  struct Point {
    Event event;
    bool passed = false;
  };

  bool passed_locked(Ticket ticket) {
    if (ticket < first_) return true;
    Point& point = pending_[ticket - first_];
    point.passed = point.passed || point.event.done();
    return point.passed;
  }
  void forget_passed() {
    while (!pending_.empty() && passed_locked(first_)) {
      spare_.push_back(std::move(pending_.front().event));
      pending_.pop_front();
      ++first_;
    }
  }

  std::mutex mutex_;
  Ticket first_ = 1;           ///< of pending_.front()
  std::deque<Point> pending_;  ///< in order of their making, which need not be that of passing
  std::vector<Event> spare_;
};

}  // namespace yoload::device
