// SPDX-License-Identifier: Apache-2.0
#include "yoload/measured_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "device/device.h"
#include "metrics/stage_clock.h"
#include "metrics/verdict.h"
#include "yoload/progress.h"

namespace yoload::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void subtract(const std::vector<StageReport>& before, std::vector<StageReport>* stages) {
  for (StageReport& stage : *stages) {
    const auto earlier = std::find_if(before.begin(), before.end(),
                                      [&](const StageReport& s) { return s.stage == stage.stage; });
    if (earlier == before.end()) continue;
    stage.count -= earlier->count;
    stage.busy_s -= earlier->busy_s;
    stage.bytes -= earlier->bytes;
  }
}

/// What happened between two reports, for everything that counts up.
Report difference(const Report& before, const Report& after) {
  Report d = after;
  d.images -= before.images;
  d.batches -= before.batches;
  d.decodes -= before.decodes;
  d.wall_s -= before.wall_s;
  d.cpu_s -= before.cpu_s;
  d.consumer_wait_s -= before.consumer_wait_s;
  d.consumer_busy_s -= before.consumer_busy_s;
  d.worker_wait_s -= before.worker_wait_s;
  d.cache_hits -= before.cache_hits;
  d.cache_misses -= before.cache_misses;
  d.extra_decodes -= before.extra_decodes;
  d.replaced -= before.replaced;
  d.dropped_outside -= before.dropped_outside;
  d.dropped_too_small -= before.dropped_too_small;
  d.dropped_aspect -= before.dropped_aspect;
  d.dropped_area -= before.dropped_area;
  d.dropped_empty_mask -= before.dropped_empty_mask;
  d.late_batches -= before.late_batches;
  d.decoded_by_engines -= before.decoded_by_engines;
  d.decoded_by_multiprocessors -= before.decoded_by_multiprocessors;
  d.decoded_by_cpu -= before.decoded_by_cpu;
  subtract(before.stages, &d.stages);
  subtract(before.device_stages, &d.device_stages);
  return d;
}

Result<std::unique_ptr<GpuUseMeter>> measure_gpu(int ordinal) {
  const auto facts = find_device(ordinal);
  if (!facts.ok()) return facts.status();
  const auto api = nvml::open();
  if (!api.ok()) return api.status();
  return GpuUseMeter::start(*api, facts->pci_bus_id);
}

}  // namespace

LoaderOptions for_epochs(LoaderOptions options, int epochs) {
  if (options.epochs == 0) {
    options.epochs = epochs;
    options.augment.close_mosaic = 0;
  }
  return options;
}

void print_ledger(const Loader& loader, std::FILE* out) {
  constexpr size_t kLines = 20;
  const std::vector<LedgerEntry> ledger = loader.ledger();
  for (size_t i = 0; i < std::min(kLines, ledger.size()); ++i) {
    const LedgerEntry& e = ledger[i];
    fmt::print(out, "replaced in epoch {}: {}: {}: {}\n", e.epoch, e.path, e.stage, e.cause);
  }
  if (ledger.size() > kLines) fmt::print(out, "and {} more\n", ledger.size() - kLines);
}

MeasuredRun run_measured(Loader* loader, const RunPlan& plan) {
  MeasuredRun run;
  const auto step = std::chrono::duration<double, std::milli>(plan.step_ms);
  const uint64_t per_epoch = loader->images_per_epoch();
  const int total = plan.warmup + plan.epochs;
  Progress progress(plan.title, per_epoch * static_cast<uint64_t>(total), "images");

  std::unique_ptr<GpuUseMeter> gpu_meter;
  if (loader->device() >= 0) {
    auto meter = measure_gpu(loader->device());
    if (meter.ok()) {
      gpu_meter = std::move(meter).value();
    } else {
      run.gpu_use_unknown = meter.status().message();
    }
  }
  const Clock::time_point start = Clock::now();
  Report before = loader->report();
  int64_t cpu_before_ns = process_cpu_ns();
  Clock::time_point measured_start = start;
  uint64_t images = 0, measured_images = 0;
  for (int epoch = 0; epoch < total; ++epoch) {
    if (epoch == plan.warmup && epoch > 0) {
      loader->wait_for_device();
      if (gpu_meter != nullptr) gpu_meter->forget();
      before = loader->report();
      cpu_before_ns = process_cpu_ns();
      measured_start = Clock::now();
    }
    const Clock::time_point epoch_start = Clock::now();
    EpochTime time;
    loader->set_epoch(static_cast<uint32_t>(epoch));
    // One Batch object, so that its memory is free again before the next one is asked for.
    Batch batch;
    while (loader->next(&batch)) {
      if (images == 0) run.first_batch_s = seconds_since(start);
      time.images += static_cast<uint64_t>(batch.size);
      images += static_cast<uint64_t>(batch.size);
      if (plan.step_ms > 0) std::this_thread::sleep_for(step);
      progress.update(images);
    }
    time.wall_s = seconds_since(epoch_start);
    if (epoch >= plan.warmup) {
      run.epochs.push_back(time);
      measured_images += time.images;
    }
  }
  loader->wait_for_device();
  const double wall_s = seconds_since(measured_start);
  if (gpu_meter != nullptr) run.gpu_use = gpu_meter->stop();
  run.cpu_s = static_cast<double>(process_cpu_ns() - cpu_before_ns) * 1e-9;
  run.report = difference(before, loader->report());
  progress.finish();
  // The engine's own clock also ran while the data set was opened; here only the run counts.
  run.report.wall_s = wall_s;
  run.report.images = measured_images;
  // The wait for the very first batch is start-up: in a short run it would drown the steady state.
  Report steady = run.report;
  if (plan.warmup == 0)
    steady.consumer_wait_s = std::max(0.0, steady.consumer_wait_s - run.first_batch_s);
  run.report.verdict = verdict_of(steady);
  run.images_per_s = wall_s > 0 ? static_cast<double>(measured_images) / wall_s : 0;
  run.decodes_per_image = static_cast<double>(run.report.decodes) /
                          static_cast<double>(std::max<uint64_t>(1, measured_images));
  return run;
}

}  // namespace yoload::cli
