// SPDX-License-Identifier: Apache-2.0
#include "metrics/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

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
  if (report.device.empty()) return result;
  result.late_share = static_cast<double>(report.late_batches) /
                      static_cast<double>(std::max<uint64_t>(1, report.batches));
  double longest_s = 0;
  for (const StageReport& stage : report.device_stages) {
    if (stage.busy_s <= longest_s) continue;
    longest_s = stage.busy_s;
    result.device_stage = stage.stage;
  }
  result.device_stage_share = std::min(1.0, longest_s / report.wall_s);
  return result;
}

namespace {

// Under 2 % the queue was as good as never empty.
constexpr double kStarved = 0.02;
// On a GPU a batch may be handed over before it is there, and then it is the consumer's stream that
// waits. Now and then that is no loss: the consumer's earlier work is still running.
constexpr double kLate = 0.2;
// Whatever is busy for less of the time is not the limit.
constexpr double kBusy = 0.7;

/// What keeps a GPU's kind of work busy, and what to change.
struct GpuCause {
  std::string_view stage, name, advice;
};
constexpr GpuCause kGpuCauses[] = {
    {"gpu engines", "decoding on the JPEG engines",
     "cpu_decode_share and sm_decode_share give part of the pictures to others, cache=pixels "
     "decodes once, and photographs saved as 4:2:0 decode faster"},
    {"gpu SMs", "decoding on the multiprocessors",
     "more threads for its entropy coding, or cache=pixels"},
    {"gpu resize", "resizing on the multiprocessors", "store pictures at the size of training"},
    {"gpu upload", "copying pixels to the GPU",
     "they come from the CPU decoder: store pictures as JPEGs that the GPU can decode, or "
     "cache=pixels"},
    {"gpu render", "augmentation on the multiprocessors",
     "it runs behind the training's kernels; fewer filters, or a smaller dtype"},
};

/// The same for the threads of an engine with a GPU, which should have little to do.
std::string_view thread_advice(std::string_view stage) {
  if (stage == "read") return "put the data on a faster disk or a RAM disk, or use cache=bytes";
  if (stage == "decode") {
    return "the CPU decoder's pictures and the multiprocessors' entropy coding are done there: "
           "more "
           "threads, baseline JPEGs for the engines, or cache=pixels";
  }
  return "more threads";
}

std::string decoders(const Report& report) {
  const double all = static_cast<double>(std::max<uint64_t>(
      1, report.decoded_by_engines + report.decoded_by_multiprocessors + report.decoded_by_cpu));
  return fmt::format("engines {:.0f} %, multiprocessors {:.0f} %, CPU {:.0f} %",
                     100 * static_cast<double>(report.decoded_by_engines) / all,
                     100 * static_cast<double>(report.decoded_by_multiprocessors) / all,
                     100 * static_cast<double>(report.decoded_by_cpu) / all);
}

std::string verdict_with_gpu(const Report& report, const Attribution& at) {
  if (at.starved_share < kStarved && at.late_share < kLate) {
    return fmt::format(
        "the training step is the limit: the consumer waited {:.1f} % of the time, {:.0f} % of the "
        "batches were still being made when it took them; {} was busy {:.0f} % of the time",
        100 * at.starved_share, 100 * at.late_share,
        at.device_stage.empty() ? report.device : at.device_stage, 100 * at.device_stage_share);
  }
  const std::string who =
      at.starved_share >= kStarved
          ? fmt::format("the consumer starved {:.0f} % of the time", 100 * at.starved_share)
          : fmt::format("{:.0f} % of the batches were not finished when the consumer took them",
                        100 * at.late_share);
  if (std::max(at.worker_busy_share, at.device_stage_share) < kBusy) {
    return fmt::format(
        "{} although {} was busy only {:.0f} % of it and {} threads {:.0f} %: too little may be in "
        "flight (device_memory_budget, prefetch_factor, decode_batch)",
        who, at.device_stage.empty() ? report.device : at.device_stage, 100 * at.device_stage_share,
        report.threads, 100 * at.worker_busy_share);
  }
  if (at.worker_busy_share > at.device_stage_share) {
    return fmt::format(
        "{}: {} threads are {:.0f} % busy, {} is {:.0f} % of their work (decoded by {}); {}", who,
        report.threads, 100 * at.worker_busy_share, at.saturated_by, 100 * at.saturated_share,
        decoders(report), thread_advice(at.saturated_by));
  }
  GpuCause cause{at.device_stage, at.device_stage, "less work for it"};
  for (const GpuCause& known : kGpuCauses) {
    if (known.stage == at.device_stage) cause = known;
  }
  return fmt::format(
      "{}: {} takes {:.0f} % of it, {} threads are {:.0f} % busy (decoded by {}); {}", who,
      cause.name, 100 * at.device_stage_share, report.threads, 100 * at.worker_busy_share,
      decoders(report), cause.advice);
}

}  // namespace

std::string verdict_of(const Report& report) {
  if (report.batches == 0) return "nothing measured yet";
  const Attribution at = attribute(report);
  if (!report.device.empty()) return verdict_with_gpu(report, at);
  if (at.starved_share < kStarved) {
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
  if (at.worker_busy_share < kBusy) {
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
