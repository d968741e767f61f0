// Where batches are written: the engine's own recycled blocks, or buffers that the consumer
// offered; in host or in device memory. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "core/buffer.h"
#include "pipeline/device_lane.h"

namespace yoload {

/// Thread-safe.
class BatchMemory {
 public:
  /// Memory of one batch on its way. If it is dropped before deliver(), an offered buffer goes back
  /// on offer; tasks that still write there keep it alive until they are done.
  class Block {
   public:
    uint8_t* data() const { return data_; }
    uint64_t token() const { return offer_.token; }
    bool on_device() const { return on_device_; }
    /// Device memory: what writing has to wait for, and the point of the GPU's last write.
    uint64_t free_from() const { return offer_.free_from; }
    void written_until(uint64_t point) {
      offer_.free_from = point;
      if (device_) device_->written_until(point);
    }
    /// The batch is with the consumer now: an offered buffer is theirs again. Device memory of our
    /// own is free again after what `consumer` has been given when the batch is dropped.
    void deliver(StreamHandle consumer) {
      delivered_ = true;
      if (device_) device_->deliver(consumer);
    }

    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    friend class BatchMemory;
    struct Offer {
      uint8_t* memory = nullptr;
      size_t bytes = 0;
      uint64_t token = 0;
      uint64_t free_from = 0;
    };
    struct Offers {
      std::mutex mutex;
      std::deque<Offer> waiting;
    };
    Block() = default;

    uint8_t* data_ = nullptr;
    Buffer own_;
    std::shared_ptr<DeviceAllocation> device_;
    Offer offer_;
    std::shared_ptr<Offers> offers_;
    bool on_device_ = false;
    bool delivered_ = false;
  };

  /// `offered`: take() hands out what offer() was given and nothing else.
  /// With a `lane` blocks of our own lie in device memory.
  BatchMemory(bool offered, size_t max_idle_bytes, DeviceLane* lane = nullptr);

  void offer(void* memory, size_t bytes, uint64_t token, uint64_t free_from);
  /// Memory for `bytes`; null when nothing is on offer.
  std::shared_ptr<Block> take(size_t bytes);

 private:
  const bool offered_;
  DeviceLane* const lane_;
  std::shared_ptr<BufferPool> pool_;
  std::shared_ptr<Block::Offers> offers_ = std::make_shared<Block::Offers>();
};

}  // namespace yoload
