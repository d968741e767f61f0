// One byte budget that the pool, the caches, prefetch and in-flight bytes all draw on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace yoload {

/// Counts bytes against a limit. Thread-safe, lock-free; gives no fairness and never waits: whoever
/// is refused decides what to give back.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// Takes `bytes` if they fit; false leaves everything as it was.
  bool try_take(uint64_t bytes) {
    uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (used + bytes > limit_bytes_) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    note_peak(used + bytes);
    return true;
  }
  /// Takes `bytes` even beyond the limit: only for what a run cannot go on without (the oldest
  /// batch).
  void take(uint64_t bytes) {
    note_peak(used_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
  void give_back(uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t limit_bytes() const { return limit_bytes_; }
  uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  uint64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

 private:
  void note_peak(uint64_t now) {
    uint64_t peak = peak_bytes_.load(std::memory_order_relaxed);
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> used_bytes_{0};
  std::atomic<uint64_t> peak_bytes_{0};
};

/// Bytes taken from a budget, given back when this goes out of scope. Move-only.
class BudgetLease {
 public:
  BudgetLease() = default;
  /// Stands for `bytes` that the caller has taken already.
  BudgetLease(MemoryBudget* budget, uint64_t bytes) : budget_(budget), bytes_(bytes) {}
  ~BudgetLease() { resize(0); }
  BudgetLease(BudgetLease&& other) noexcept { *this = std::move(other); }
  BudgetLease& operator=(BudgetLease&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  /// Takes or gives back the difference, beyond the limit if it must.
  void resize(uint64_t bytes) {
    if (budget_ == nullptr) return;
    if (bytes > bytes_) {
      budget_->take(bytes - bytes_);
    } else {
      budget_->give_back(bytes_ - bytes);
    }
    bytes_ = bytes;
  }
  uint64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace yoload
