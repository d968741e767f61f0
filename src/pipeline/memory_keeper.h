// The budget and the recycled buffers together: idle buffers are resident too, so they count.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>

#include "core/buffer.h"
#include "core/memory_budget.h"

namespace yoload {

/// Thread-safe.
class MemoryKeeper {
 public:
  explicit MemoryKeeper(uint64_t limit_bytes)
      : budget_(limit_bytes),
        pool_(BufferPool::create(limit_bytes, limit_bytes >= kSlabLimitBytes)) {}

  /// Takes `bytes`, giving idle buffers back to the system if used and idle bytes would pass the
  /// limit.
  bool try_take(uint64_t bytes) {
    if (!budget_.try_take(bytes)) return false;
    trim();
    return true;
  }
  void take(uint64_t bytes) {
    budget_.take(bytes);
    trim();
  }
  MemoryBudget* budget() { return &budget_; }
  const MemoryBudget& budget() const { return budget_; }
  BufferPool* pool() { return pool_.get(); }

 private:
  // Below this, what slabs may hold on to would be too large a share of the budget.
  static constexpr uint64_t kSlabLimitBytes = uint64_t{1} << 30;

  void trim() {
    const uint64_t used = std::min(budget_.used_bytes(), budget_.limit_bytes());
    const uint64_t room = budget_.limit_bytes() - used;
    if (pool_->idle_bytes() > room) pool_->trim(room);
  }
  MemoryBudget budget_;
  std::shared_ptr<BufferPool> pool_;
};

}  // namespace yoload
