// `yoload bench`: how many images a second, where the time goes, and who waits for whom.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/json.h"
#include "core/machine.h"
#include "pipeline/report.h"
#include "yoload/build_info.h"
#include "yoload/commands.h"
#include "yoload/measured_run.h"
#include "yoload/open_loader.h"
#include "yoload/settings_json.h"
#include "yoload/units.h"

namespace yoload::cli {

int run_bench(const BenchCommand& command) {
  Loader loader = open_loader(for_epochs(command.loader, command.warmup + command.epochs));
  const MeasuredRun run =
      run_measured(&loader, {command.epochs, command.warmup, command.step_ms, "bench"});
  const Report& r = run.report;
  const double images = static_cast<double>(std::max<uint64_t>(1, r.images));

  if (!command.json) {
    fmt::print("{}\n", r.to_text());
    fmt::print(
        "{:.1f} images/s, {} images in {:.2f} s, {:.3f} decodes and {:.2f} ms CPU per image, {} "
        "threads, peak RSS {}\n",
        run.images_per_s, r.images, r.wall_s, run.decodes_per_image, 1000 * run.cpu_s / images,
        r.threads, format_bytes(peak_resident_bytes()));
    fmt::print("first batch after {:.0f} ms (start-up, left out of the verdict)\n",
               1000 * run.first_batch_s);
    if (run.gpu_use.has_value()) {
      fmt::print("kernels ran on the GPU {:.0f} % of the time", 100 * run.gpu_use->busy);
      if (run.gpu_use->jpeg_engines_busy >= 0) {
        fmt::print(", its JPEG engines were {:.0f} % busy", 100 * run.gpu_use->jpeg_engines_busy);
      }
      fmt::print("\n");
    } else if (!run.gpu_use_unknown.empty()) {
      fmt::print("how busy the GPU was is not known: {}\n", run.gpu_use_unknown);
    }
    print_ledger(loader, stdout);
    return kExitOk;
  }

  JsonWriter json;
  json.begin_object();
  json.field("command", "bench").field("version", version()).field("commit", commit());
  json.field("images_per_s", run.images_per_s)
      .field("images", r.images)
      .field("batches", r.batches);
  json.field("wall_s", r.wall_s)
      .field("cpu_s", run.cpu_s)
      .field("cpu_s_per_image", run.cpu_s / images);
  json.field("decodes", r.decodes).field("decodes_per_image", run.decodes_per_image);
  json.field("own_jpeg_decodes", r.own_jpeg_decodes);
  json.field("extra_decodes", r.extra_decodes).field("replaced", r.replaced);
  json.field("first_batch_s", run.first_batch_s);
  json.field("consumer_wait_s", r.consumer_wait_s).field("consumer_busy_s", r.consumer_busy_s);
  json.field("worker_wait_s", r.worker_wait_s).field("mean_ready_batches", r.mean_ready_batches);
  json.field("threads", r.threads);
  json.field("memory_budget_bytes", r.memory_budget_bytes)
      .field("memory_peak_bytes", r.memory_peak_bytes);
  json.field("peak_rss_bytes", peak_resident_bytes());
  json.field("index_bytes", r.index_bytes).field("polygon_bytes", r.polygon_bytes);
  json.field("cache_bytes", r.cache_bytes)
      .field("cache_hits", r.cache_hits)
      .field("cache_misses", r.cache_misses);
  json.field("verdict", r.verdict);
  json.key("epochs").begin_array();
  for (const EpochTime& epoch : run.epochs) {
    json.begin_object().field("images", epoch.images).field("wall_s", epoch.wall_s).end_object();
  }
  json.end_array();
  write_stages("stages", r.stages, &json);
  if (!r.device.empty()) {
    json.field("device", r.device);
    write_stages("device_stages", r.device_stages, &json);
    json.field("decoded_by_engines", r.decoded_by_engines)
        .field("decoded_by_multiprocessors", r.decoded_by_multiprocessors)
        .field("decoded_by_cpu", r.decoded_by_cpu)
        .field("refused_by_gpu", r.refused_by_gpu)
        .field("late_batches", r.late_batches);
    if (run.gpu_use.has_value()) {
      json.field("gpu_busy", run.gpu_use->busy);
      if (run.gpu_use->jpeg_engines_busy >= 0) {
        json.field("jpeg_engines_busy", run.gpu_use->jpeg_engines_busy);
      }
    }
    json.field("device_memory_bytes", r.device_memory_bytes)
        .field("device_memory_budget_bytes", r.device_memory_budget_bytes);
  }
  json.key("ledger").begin_array();
  for (const LedgerEntry& entry : loader.ledger()) {
    json.begin_object().field("epoch", entry.epoch).field("position", entry.position);
    json.field("path", entry.path).field("stage", entry.stage).field("cause", entry.cause);
    json.field("replacement", entry.replacement).end_object();
  }
  json.end_array();
  json.key("settings").begin_object();
  json.field("measured_epochs", command.epochs)
      .field("warmup", command.warmup)
      .field("step_ms", command.step_ms);
  write_settings(loader.options(), &json);
  json.end_object();
  const MachineFacts machine = read_machine();
  json.key("machine").begin_object();
  json.field("cpu", machine.cpu_model).field("logical_cpus", machine.logical_cpus);
  json.field("physical_cores", machine.physical_cores).field("cpu_quota_cores", machine.cpu_quota);
  json.field("memory_bytes", machine.memory_bytes).field("kernel", kernel_text());
  json.field("simd", simd_target());
  json.end_object();
  json.end_object();
  std::puts(json.take().c_str());
  return kExitOk;
}

}  // namespace yoload::cli
