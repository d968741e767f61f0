// SPDX-License-Identifier: Apache-2.0
#include "pipeline/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/json.h"
#include "metrics/verdict.h"

namespace yoload {

Report make_report(const Engine& engine, const LoaderOptions& options, const DatasetIndex& index) {
  Report report;
  const EngineCounts counts = engine.counts();
  report.images = counts.images;
  report.batches = counts.batches;
  report.replaced = counts.replaced;
  report.dropped_outside = counts.dropped.outside;
  report.dropped_too_small = counts.dropped.too_small;
  report.dropped_aspect = counts.dropped.aspect;
  report.dropped_area = counts.dropped.area;
  report.dropped_empty_mask = counts.dropped.empty_mask;
  report.decodes = engine.tiles().decodes();
  report.own_jpeg_decodes = engine.tiles().own_jpeg_decodes();
  report.extra_decodes = engine.evictions();
  report.cache_bytes = engine.tiles().cache_bytes();
  report.cache_hits = engine.tiles().cache_hits();
  report.cache_misses = engine.tiles().cache_misses();
  report.wall_s = engine.wall_s();
  report.cpu_s = engine.clocks().cpu_s();
  report.consumer_wait_s = static_cast<double>(counts.consumer_wait_ns) * 1e-9;
  report.consumer_busy_s = static_cast<double>(counts.consumer_busy_ns) * 1e-9;
  report.mean_ready_batches = counts.batches > 0 ? static_cast<double>(counts.ready_batches_sum) /
                                                       static_cast<double>(counts.batches)
                                                 : 0;
  report.threads = engine.threads();
  report.memory_budget_bytes = options.memory_budget_bytes;
  report.memory_peak_bytes = engine.memory().budget().peak_bytes();
  report.index_bytes = index.bytes();
  report.polygon_bytes = index.polygon_bytes();
  const auto totals = engine.clocks().totals();
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    const WorkTotals& total = totals[kind];
    report.stages.push_back({std::string(name(static_cast<Work>(kind))), total.count,
                             total.busy_s(), total.quantile_ms(0.5), total.quantile_ms(0.99),
                             total.bytes});
    if (static_cast<Work>(kind) == Work::wait) report.worker_wait_s = total.busy_s();
  }
  if (DeviceLane* device = engine.device()) {
    report.device_stages = device->stages();
    const DeviceCounts on_device = device->counts();
    report.device = options.device;
    report.decodes = on_device.decodes;
    report.decoded_by_engines = on_device.by_engines;
    report.decoded_by_multiprocessors = on_device.by_multiprocessors;
    report.decoded_by_cpu = on_device.by_cpu;
    report.refused_by_gpu = on_device.refused;
    report.cache_bytes = on_device.cache_bytes;
    report.cache_hits = on_device.cache_hits;
    report.cache_misses = on_device.cache_misses;
    report.device_memory_budget_bytes = on_device.memory_limit_bytes;
    report.device_memory_bytes = on_device.memory_bytes;
    report.late_batches = counts.late_batches;
  }
  report.verdict = verdict_of(report);
  return report;
}

namespace {

void write_device(const Report& report, std::string* text) {
  const auto out = std::back_inserter(*text);
  const double wall_s = std::max(1e-9, report.wall_s);
  for (const StageReport& stage : report.device_stages) {
    fmt::format_to(out, "{:<10}{:>10}{:>12.3f}{:>10.3f}{:>10.3f}{:>10.1f}{:>8.1f}%   {:.1f} GB/s\n",
                   stage.stage, stage.count, stage.busy_s, stage.p50_ms, stage.p99_ms,
                   static_cast<double>(stage.bytes) / 1e6, 100 * stage.busy_s / wall_s,
                   static_cast<double>(stage.bytes) / 1e9 / std::max(1e-9, stage.busy_s));
  }
  fmt::format_to(out,
                 "{}: decoded by engines {}, multiprocessors {}, CPU {} ({} given back); "
                 "{} of {} batches late; tiles hold {:.0f} of {:.0f} MB\n",
                 report.device, report.decoded_by_engines, report.decoded_by_multiprocessors,
                 report.decoded_by_cpu, report.refused_by_gpu, report.late_batches, report.batches,
                 static_cast<double>(report.device_memory_bytes) / 1e6,
                 static_cast<double>(report.device_memory_budget_bytes) / 1e6);
}

}  // namespace

std::string Report::to_text() const {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:<10}{:>10}{:>12}{:>10}{:>10}{:>10}{:>9}\n", "stage", "items", "busy s",
                 "p50 ms", "p99 ms", "MB", "share");
  const double thread_s = std::max(1e-9, wall_s * std::max(1, threads));
  for (const StageReport& stage : stages) {
    fmt::format_to(out, "{:<10}{:>10}{:>12.3f}{:>10.3f}{:>10.3f}{:>10.1f}{:>8.1f}%\n", stage.stage,
                   stage.count, stage.busy_s, stage.p50_ms, stage.p99_ms,
                   static_cast<double>(stage.bytes) / 1e6, 100 * stage.busy_s / thread_s);
  }
  if (!device.empty()) write_device(*this, &text);
  const double consumer_s = std::max(1e-9, consumer_wait_s + consumer_busy_s);
  fmt::format_to(out, "{:<10}{:>10}{:>12.3f}{:>48.1f}%   ({:.1f} batches ready on average)\n",
                 "consumer waits", batches, consumer_wait_s, 100 * consumer_wait_s / consumer_s,
                 mean_ready_batches);
  fmt::format_to(
      out, "{} images in {} batches, {:.3f} decodes per image, {} threads, {:.2f} CPU s\n", images,
      batches, images > 0 ? static_cast<double>(decodes) / static_cast<double>(images) : 0, threads,
      cpu_s);
  fmt::format_to(
      out, "memory: budget {:.0f} MB, peak {:.0f} MB, cache {:.0f} MB ({} hits, {} misses)\n",
      static_cast<double>(memory_budget_bytes) / 1e6, static_cast<double>(memory_peak_bytes) / 1e6,
      static_cast<double>(cache_bytes) / 1e6, cache_hits, cache_misses);
  if (extra_decodes > 0) {
    fmt::format_to(out,
                   "{} pictures left the pool early: the window does not fit the memory budget\n",
                   extra_decodes);
  }
  if (replaced > 0) fmt::format_to(out, "{} samples were replaced: see the ledger\n", replaced);
  const uint64_t dropped = dropped_outside + dropped_too_small + dropped_aspect + dropped_area;
  if (dropped > 0) {
    fmt::format_to(out, "boxes dropped: {} outside, {} too small, {} by aspect, {} by area\n",
                   dropped_outside, dropped_too_small, dropped_aspect, dropped_area);
  }
  fmt::format_to(out, "verdict: {}\n", verdict);
  return text;
}

void write_stages(const char* key, const std::vector<StageReport>& stages, JsonWriter* json) {
  json->key(key).begin_array();
  for (const StageReport& stage : stages) {
    json->begin_object();
    json->field("stage", stage.stage).field("count", stage.count).field("busy_s", stage.busy_s);
    json->field("p50_ms", stage.p50_ms).field("p99_ms", stage.p99_ms).field("bytes", stage.bytes);
    json->end_object();
  }
  json->end_array();
}

std::string Report::to_json() const {
  JsonWriter json;
  json.begin_object();
  json.field("images", images).field("batches", batches).field("decodes", decodes);
  json.field("own_jpeg_decodes", own_jpeg_decodes);
  json.field("extra_decodes", extra_decodes).field("replaced", replaced).field("threads", threads);
  json.field("wall_s", wall_s).field("cpu_s", cpu_s);
  json.field("consumer_wait_s", consumer_wait_s).field("consumer_busy_s", consumer_busy_s);
  json.field("worker_wait_s", worker_wait_s).field("mean_ready_batches", mean_ready_batches);
  json.field("memory_budget_bytes", memory_budget_bytes)
      .field("memory_peak_bytes", memory_peak_bytes);
  json.field("index_bytes", index_bytes).field("polygon_bytes", polygon_bytes);
  json.field("cache_bytes", cache_bytes)
      .field("cache_hits", cache_hits)
      .field("cache_misses", cache_misses);
  json.key("dropped").begin_object();
  json.field("outside", dropped_outside).field("too_small", dropped_too_small);
  json.field("aspect", dropped_aspect).field("area", dropped_area);
  json.field("empty_mask", dropped_empty_mask);
  json.end_object();
  write_stages("stages", stages, &json);
  json.field("device", device.empty() ? "cpu" : device);
  if (!device.empty()) {
    write_stages("device_stages", device_stages, &json);
    json.field("decoded_by_engines", decoded_by_engines)
        .field("decoded_by_multiprocessors", decoded_by_multiprocessors)
        .field("decoded_by_cpu", decoded_by_cpu)
        .field("refused_by_gpu", refused_by_gpu)
        .field("late_batches", late_batches)
        .field("device_memory_bytes", device_memory_bytes)
        .field("device_memory_budget_bytes", device_memory_budget_bytes);
  }
  json.field("verdict", verdict);
  json.end_object();
  return json.take();
}

}  // namespace yoload
