// SPDX-License-Identifier: Apache-2.0
#include "metrics/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace yoload {

Attribution attribute(const Report& report) {
  Attribution result;
  if (report.wall_s <= 0) return result;
  const double consumer_s = report.consumer_wait_s + report.consumer_busy_s;
  result.starved_share = consumer_s > 0 ? report.consumer_wait_s / consumer_s : 0;
  double busy_s = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.stage == "wait") continue;
    busy_s += stage.busy_s;
  }
  for (const StageReport& stage : report.stages) {
    if (stage.stage == "wait" || busy_s <= 0) continue;
    const double share = stage.busy_s / busy_s;
    if (share > result.saturated_share) {
      result.saturated_share = share;
      result.saturated_by = stage.stage;
    }
  }
  result.worker_busy_share = std::min(1.0, busy_s / (report.wall_s * std::max(1, report.threads)));
  return result;
}

std::string verdict_of(const Report& report) {
  if (report.batches == 0) return "nothing measured yet";
  const Attribution at = attribute(report);
  // Under 2 % the queue was as good as never empty.
  if (at.starved_share < 0.02) {
    return fmt::format(
        "the training step is the limit: the consumer waited {:.1f} % of the time, {} threads were "
        "{:.0f} % busy",
        100 * at.starved_share, report.threads, 100 * at.worker_busy_share);
  }
  const std::string cause =
      at.saturated_by == "read" ? "reading files takes most of it; put the data on a faster disk "
                                  "or a RAM disk, or use cache=bytes"
      : at.saturated_by == "augment"
          ? "augmentation takes most of it; more threads, or fidelity=fused"
      : at.saturated_by == "resize"
          ? "resizing takes most of it; fidelity=fused decodes at the size that is needed"
          : "decoding takes most of it; more threads, or cache=pixels if the pictures fit in "
            "memory";
  if (at.worker_busy_share < 0.7) {
    return fmt::format(
        "the consumer starved {:.0f} % of the time although {} threads were only {:.0f} % busy: "
        "too few "
        "batches may be in flight (memory budget, prefetch) or other processes hold the cores",
        100 * at.starved_share, report.threads, 100 * at.worker_busy_share);
  }
  return fmt::format(
      "the consumer starved {:.0f} % of the time: {} threads are {:.0f} % busy, {} is "
      "{:.0f} % of their work; {}",
      100 * at.starved_share, report.threads, 100 * at.worker_busy_share, at.saturated_by,
      100 * at.saturated_share, cause);
}

}  // namespace yoload
