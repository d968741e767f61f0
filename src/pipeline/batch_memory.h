// Where batches are written: the engine's own recycled blocks, or buffers that the consumer
// offered. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "core/buffer.h"

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
    /// The batch is with the consumer now: an offered buffer is theirs again.
    void deliver() { delivered_ = true; }

    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    friend class BatchMemory;
    struct Offer {
      uint8_t* memory = nullptr;
      size_t bytes = 0;
      uint64_t token = 0;
    };
    struct Offers {
      std::mutex mutex;
      std::deque<Offer> waiting;
    };
    Block() = default;

    uint8_t* data_ = nullptr;
    Buffer own_;
    Offer offer_;
    std::shared_ptr<Offers> offers_;
    bool delivered_ = false;
  };

  /// `offered`: take() hands out what offer() was given and nothing else.
  BatchMemory(bool offered, size_t max_idle_bytes);

  void offer(void* memory, size_t bytes, uint64_t token);
  /// Memory for `bytes`; null when nothing is on offer.
  std::shared_ptr<Block> take(size_t bytes);

 private:
  const bool offered_;
  std::shared_ptr<BufferPool> pool_;
  std::shared_ptr<Block::Offers> offers_ = std::make_shared<Block::Offers>();
};

}  // namespace yoload
