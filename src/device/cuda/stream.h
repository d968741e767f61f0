// Streams and events that free themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "device/cuda/call_counts.h"
#include "device/cuda/check.h"

namespace yoload::device {

/// A point in a stream's work. Move-only. Never times anything: timing events cost more.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "record an event"); }
  /// True when everything before the last record() is done. Never waits.
  bool done() const {
    if (cudaEventQuery(event_) == cudaSuccess) return true;
    cudaGetLastError();  // "not ready" must not be found by the next launch check
    return false;
  }
  /// The CPU waits; counted.
  void synchronise() const {
    call_counts().synchronisations.fetch_add(1, std::memory_order_relaxed);
    check(cudaEventSynchronize(event_), "wait for the GPU");
  }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of its own, not ordered against the default stream. Move-only.
class Stream {
 public:
  enum class Priority { lowest, highest };

  explicit Stream(Priority priority = Priority::lowest) {
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "ask for stream priorities");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                       priority == Priority::lowest ? lowest : highest),
          "make a stream");
  }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  /// Work put into this stream from now on runs after `event`.
  void wait(const Event& event) { wait(event.get()); }
  void wait(cudaEvent_t event) {
    check(cudaStreamWaitEvent(stream_, event, 0), "order two streams");
  }
  /// The CPU waits; counted.
  void synchronise() const {
    call_counts().synchronisations.fetch_add(1, std::memory_order_relaxed);
    check(cudaStreamSynchronize(stream_), "wait for the GPU");
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace yoload::device
