// SPDX-License-Identifier: Apache-2.0
#include "yoload/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace yoload::cli {
namespace {

using std::chrono::milliseconds;
// Ten redraws a second look smooth; a log gets a line only when a job is long enough to wonder.
constexpr milliseconds kTerminalPeriod{100};
constexpr milliseconds kLogPeriod{10'000};
constexpr int kBarCells = 28;

}  // namespace

Progress::Progress(std::string title, uint64_t total, std::string unit)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      next_draw_(start_ + (terminal_ ? kTerminalPeriod : kLogPeriod)) {}

void Progress::update(uint64_t done) {
  done_ = done;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + (terminal_ ? kTerminalPeriod : kLogPeriod);
  draw(now);
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  draw(Clock::now());
  if (terminal_) std::fputc('\n', stderr);
}

void Progress::draw(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  std::string line = fmt::format("{:<12} ", title_);
  if (terminal_ && total_ > 0) {
    const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const int full = static_cast<int>(share * kBarCells);
    for (int i = 0; i < kBarCells; ++i) line += i < full ? "█" : "░";
    line += ' ';
  }
  line += total_ > 0 ? fmt::format("{}/{} {}", done_, total_, unit_)
                     : fmt::format("{} {}", done_, unit_);
  line += fmt::format("  {:.0f}/s  {:.1f} s", rate, seconds);
  std::fputs(terminal_ ? fmt::format("\r{}\x1b[K", line).c_str() : (line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace yoload::cli
