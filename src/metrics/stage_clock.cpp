// SPDX-License-Identifier: Apache-2.0
#include "metrics/stage_clock.h"

#include <time.h>

#include <algorithm>
#include <bit>

namespace yoload {
namespace {

int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::string_view name(Work work) {
  constexpr std::array<std::string_view, kWorkKinds> kNames = {
      "read", "decode", "resize", "plan", "augment", "submit", "wait"};
  return kNames.at(static_cast<size_t>(work));
}

int64_t thread_cpu_ns() {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
int64_t process_cpu_ns() {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

size_t bucket_of(uint64_t ns) {
  if (ns < 4) return ns;
  const int power = std::bit_width(ns) - 1;
  return std::min<size_t>(kBuckets - 1,
                          static_cast<size_t>(power - 1) * 4 + ((ns >> (power - 2)) & 3));
}

uint64_t bucket_ns(size_t bucket) {
  if (bucket < 4) return bucket + 1;
  const size_t power = bucket / 4 + 1;
  return (uint64_t{4} + bucket % 4 + 1) << (power - 2);
}

double WorkTotals::quantile_ms(double q) const {
  uint64_t total = 0;
  for (const uint64_t n : histogram) total += n;
  if (total == 0) return 0;
  const auto wanted = static_cast<uint64_t>(q * static_cast<double>(total - 1)) + 1;
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += histogram[bucket];
    if (seen >= wanted) return static_cast<double>(bucket_ns(bucket)) * 1e-6;
  }
  return static_cast<double>(bucket_ns(kBuckets - 1)) * 1e-6;
}

void ThreadClocks::add(Work work, int64_t busy_ns, uint64_t bytes) {
  // One writer: a plain load and store costs less than an atomic read-modify-write.
  const auto bump = [](auto& cell, auto by) {
    cell.store(cell.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  };
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(busy_ns, 0));
  Cell& cell = cells_[static_cast<size_t>(work)];
  bump(cell.count, uint64_t{1});
  bump(cell.busy_ns, ns);
  if (bytes != 0) bump(cell.bytes, bytes);
  bump(cell.histogram[bucket_of(ns)], uint32_t{1});
}

void ThreadClocks::add_to(std::array<WorkTotals, kWorkKinds>* totals) const {
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    const Cell& cell = cells_[kind];
    WorkTotals& total = (*totals)[kind];
    total.count += cell.count.load(std::memory_order_relaxed);
    total.busy_ns += cell.busy_ns.load(std::memory_order_relaxed);
    total.bytes += cell.bytes.load(std::memory_order_relaxed);
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      total.histogram[bucket] += cell.histogram[bucket].load(std::memory_order_relaxed);
    }
  }
}

ThreadClocks* Clocks::add_thread() {
  std::lock_guard lock(mutex_);
  return threads_.emplace_back(std::make_unique<ThreadClocks>()).get();
}

std::array<WorkTotals, kWorkKinds> Clocks::totals() const {
  std::array<WorkTotals, kWorkKinds> totals{};
  std::lock_guard lock(mutex_);
  for (const auto& thread : threads_) thread->add_to(&totals);
  return totals;
}

double Clocks::cpu_s() const {
  int64_t ns = 0;
  std::lock_guard lock(mutex_);
  for (const auto& thread : threads_) ns += thread->cpu_ns();
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace yoload
