// Progress of a long command on stderr: a bar on a terminal, now and then a plain line in a log.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace yoload::cli {

/// Not thread-safe: one thread reports. The line is completed by finish() or the destructor.
class Progress {
 public:
  /// `total` units of work; 0 is unknown.
  Progress(std::string title, uint64_t total, std::string unit);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(uint64_t done);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now);

  const std::string title_, unit_;
  const uint64_t total_;
  const bool terminal_;
  const Clock::time_point start_;
  Clock::time_point next_draw_;
  uint64_t done_ = 0;
  bool finished_ = false;
};

}  // namespace yoload::cli
