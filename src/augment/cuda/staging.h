// A ring of page-locked blocks with their twins on the GPU: how small tables get there without
// anybody waiting.
//
// A slot is written again when the stream work that reads it has passed. With more batches in
// flight than slots the CPU waits, and the wait is counted; choose the ring for what the caller
// keeps in flight.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device/cuda/memory.h"
#include "device/cuda/stream.h"

namespace yoload {

/// Used by one thread at a time.
class Staging {
 public:
  /// `bytes` a slot to begin with; slots grow when a batch needs more, which allocates.
  Staging(int slots, size_t bytes) : slots_(static_cast<size_t>(slots)) {
    for (Slot& slot : slots_) slot.reserve(bytes);
  }

  /// Takes the next slot and lays out room for `bytes`.
  void begin(size_t bytes) {
    next_ = (next_ + 1) % slots_.size();
    Slot& slot = slots_[next_];
    if (slot.used && !slot.passed.done()) slot.passed.synchronise();
    slot.used = false;
    if (slot.host.size() < bytes) slot.reserve(bytes + bytes / 2);
    filled_ = 0;
  }

  /// Copies `items` into the slot; where they will lie on the GPU, 256-byte aligned.
  template <class T>
  const T* put(std::span<const T> items) {
    Slot& slot = slots_[next_];
    const T* at = reinterpret_cast<const T*>(slot.device.data() + filled_);
    if (!items.empty()) std::memcpy(slot.host.data() + filled_, items.data(), items.size_bytes());
    filled_ += room(items.size_bytes());
    return at;
  }

  /// Enqueues the upload of everything put since begin().
  void upload(cudaStream_t stream) {
    Slot& slot = slots_[next_];
    device::check(cudaMemcpyAsync(slot.device.data(), slot.host.data(), filled_,
                                  cudaMemcpyHostToDevice, stream),
                  "upload plans");
  }
  /// Call when everything that reads the slot is in `stream`.
  void end(cudaStream_t stream) {
    slots_[next_].passed.record(stream);
    slots_[next_].used = true;
  }

  /// Bytes that put() takes up for items of this size.
  static size_t room(size_t bytes) { return (bytes + 255) / 256 * 256; }

 private:
  struct Slot {
    device::PinnedBlock host;
    device::DeviceBlock device;
    device::Event passed;
    bool used = false;

    void reserve(size_t bytes) {
      host = device::PinnedBlock(bytes);
      device = device::DeviceBlock(bytes);
    }
  };
  std::vector<Slot> slots_;
  size_t next_ = 0, filled_ = 0;
};

}  // namespace yoload
