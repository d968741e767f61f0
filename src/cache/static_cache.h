// Host cache with the `static` policy: takes what comes while there is room, never evicts.
//
// A shuffled epoch touches every record once, so an LRU of less than the whole set would evict each
// entry just before its use; keeping a fixed part gives the best hit rate that any policy can.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "core/memory_budget.h"

namespace yoload {

/// record -> shared value. Thread-safe. Gives no order and no eviction.
template <class Value>
class StaticCache {
 public:
  /// Holds at most `max_bytes`. Takes them from `budget` and gives them back when destroyed; with a
  /// null budget the values account for themselves.
  StaticCache(MemoryBudget* budget, uint64_t max_bytes) : budget_(budget), max_bytes_(max_bytes) {}
  ~StaticCache() {
    if (budget_ != nullptr) budget_->give_back(bytes_);
  }
  StaticCache(const StaticCache&) = delete;
  StaticCache& operator=(const StaticCache&) = delete;

  std::shared_ptr<const Value> find(uint32_t record) const {
    std::shared_lock lock(mutex_);
    const auto found = entries_.find(record);
    return found == entries_.end() ? nullptr : found->second;
  }

  /// Keeps `value` if there is room; false when it was refused or is there already.
  bool insert(uint32_t record, std::shared_ptr<const Value> value, uint64_t bytes) {
    std::unique_lock lock(mutex_);
    if (bytes_ + bytes > max_bytes_ || entries_.contains(record)) return false;
    if (budget_ != nullptr && !budget_->try_take(bytes)) return false;
    entries_.emplace(record, std::move(value));
    bytes_ += bytes;
    return true;
  }

  uint64_t bytes() const {
    std::shared_lock lock(mutex_);
    return bytes_;
  }

 private:
  MemoryBudget* budget_;
  const uint64_t max_bytes_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<const Value>> entries_;
  uint64_t bytes_ = 0;
};

}  // namespace yoload
