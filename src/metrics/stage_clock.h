// Clocks on every stage: who was busy, for how long, on how many items and bytes.
//
// Each thread writes cells of its own with relaxed atomics (one clock read at either end of a stage
// that takes 50 us or more: well under 1 % overhead); readers sum over the threads at any moment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace yoload {

/// What a worker thread does with its time, in the order of the sample's way.
/// `submit` is the CPU's part of what a GPU does.
enum class Work : uint8_t { read, decode, resize, plan, augment, submit, wait, count_ };
inline constexpr size_t kWorkKinds = static_cast<size_t>(Work::count_);
std::string_view name(Work work);

inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
/// CPU time of the calling thread.
int64_t thread_cpu_ns();
/// CPU time of the whole process, user and system.
int64_t process_cpu_ns();

/// Latency histogram: four buckets per power of two of nanoseconds, so quantiles are good to 19 %.
inline constexpr size_t kBuckets = 160;
size_t bucket_of(uint64_t ns);
/// Upper edge of a bucket.
uint64_t bucket_ns(size_t bucket);

/// Counters of one kind of work.
struct WorkTotals {
  uint64_t count = 0;
  uint64_t busy_ns = 0;
  uint64_t bytes = 0;
  std::array<uint64_t, kBuckets> histogram{};

  double busy_s() const { return static_cast<double>(busy_ns) * 1e-9; }
  /// Duration that a share `q` of the items stayed under, in milliseconds.
  double quantile_ms(double q) const;
};

/// Cells of one thread. Only that thread adds; anyone reads.
class ThreadClocks {
 public:
  void add(Work work, int64_t busy_ns, uint64_t bytes = 0);
  void add_to(std::array<WorkTotals, kWorkKinds>* totals) const;
  /// The thread publishes its own CPU time, now and then and at its end.
  void publish_cpu() { cpu_ns_.store(thread_cpu_ns(), std::memory_order_relaxed); }
  int64_t cpu_ns() const { return cpu_ns_.load(std::memory_order_relaxed); }

 private:
  struct Cell {
    std::atomic<uint64_t> count{0}, busy_ns{0}, bytes{0};
    std::array<std::atomic<uint32_t>, kBuckets> histogram{};
  };
  std::array<Cell, kWorkKinds> cells_;
  std::atomic<int64_t> cpu_ns_{0};
};

/// Times a scope as one item of `work`.
class StageTimer {
 public:
  StageTimer(ThreadClocks* clocks, Work work) : clocks_(clocks), work_(work), start_ns_(now_ns()) {}
  ~StageTimer() { clocks_->add(work_, now_ns() - start_ns_, bytes_); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;
  void add_bytes(uint64_t bytes) { bytes_ += bytes; }

 private:
  ThreadClocks* clocks_;
  Work work_;
  int64_t start_ns_;
  uint64_t bytes_ = 0;
};

/// All threads' clocks of one loader. Thread-safe.
class Clocks {
 public:
  /// Cells for a new thread; they live as long as this object.
  ThreadClocks* add_thread();
  std::array<WorkTotals, kWorkKinds> totals() const;
  double cpu_s() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadClocks>> threads_;
};

}  // namespace yoload
