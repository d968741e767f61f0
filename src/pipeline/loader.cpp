// The public Loader: checks the options, opens the data set, wires the engine to the collator.
// SPDX-License-Identifier: Apache-2.0
#include "yoload/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "augment/draws_json.h"
#include "batch/collate.h"
#include "core/json.h"
#include "core/machine.h"
#include "core/raise.h"
#include "core/render_target.h"
#include "dataset/dataset.h"
#include "dataset/records.h"
#include "device/device.h"
#include "metrics/verdict.h"
#include "pipeline/engine.h"
#include "pipeline/report.h"
#include "sampler/rect_batches.h"

namespace yoload {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& value, const char* expected) {
  throw std::invalid_argument(fmt::format("{} = {}: expected {}", name, value, expected));
}

void check_share(const char* name, float value) {
  if (!(value >= 0 && value <= 1)) refuse(name, fmt::format("{}", value), "a number from 0 to 1");
}

// Threads that keep a GPU supplied with files and plans.
constexpr int kGpuWorkers = 4;

/// "auto" and "cuda" become "cpu" or "cuda:N".
void settle_device(LoaderOptions* options, std::vector<std::string>* warnings) {
  if (options->device == "cpu") return;
  int ordinal = 0;
  if (options->device.starts_with("cuda:")) {
    const char* end = options->device.data() + options->device.size();
    const auto read = std::from_chars(options->device.data() + 5, end, ordinal);
    if (read.ec != std::errc() || read.ptr != end || ordinal < 0) ordinal = -1;
  } else if (options->device != "cuda" && options->device != "auto") {
    ordinal = -1;
  }
  if (ordinal < 0) refuse("device", options->device, "cpu, cuda, cuda:N or auto");
  const auto facts = find_device(ordinal);
  if (facts.ok()) {
    options->device = fmt::format("cuda:{}", ordinal);
  } else if (options->device == "auto") {
    options->device = "cpu";
    warnings->push_back("batches are made on the CPU: " + facts.status().message());
  } else {
    raise(facts.status());
  }
}

/// Refuses what makes no sense, naming option, value and what was expected; fills in the automatic
/// ones.
LoaderOptions checked(LoaderOptions options, std::vector<std::string>* warnings) {
  if (options.data.empty() && options.records == nullptr)
    refuse("data", "\"\"", "a data.yaml, a folder or an image list");
  if (options.batch_size < 1)
    refuse("batch_size", std::to_string(options.batch_size), "at least 1");
  if (options.world_size < 1)
    refuse("world_size", std::to_string(options.world_size), "at least 1");
  if (options.rank < 0 || options.rank >= options.world_size) {
    refuse("rank", std::to_string(options.rank),
           fmt::format("0 to {}", options.world_size - 1).c_str());
  }
  if (options.imgsz < 32 || options.imgsz > 8192) {
    refuse("imgsz", std::to_string(options.imgsz), "32 to 8192");
  }
  if (options.stride < 1) refuse("stride", std::to_string(options.stride), "at least 1");
  if (options.window < 8) refuse("window", std::to_string(options.window), "at least 8");
  if (options.workers < 0 || options.workers > 1024) {
    refuse("workers", std::to_string(options.workers), "0 (automatic) to 1024");
  }
  if (options.prefetch_factor < 1) {
    refuse("prefetch_factor", std::to_string(options.prefetch_factor), "at least 1");
  }
  if (!(options.fraction > 0 && options.fraction <= 1)) {
    refuse("fraction", fmt::format("{}", options.fraction), "more than 0, at most 1");
  }
  AugmentOptions& augment = options.augment;
  check_share("mosaic", augment.mosaic);
  check_share("mixup", augment.mixup);
  check_share("cutmix", augment.cutmix);
  check_share("copy_paste", augment.copy_paste);
  check_share("translate", augment.translate);
  check_share("hsv_h", augment.hsv_h);
  check_share("hsv_s", augment.hsv_s);
  check_share("hsv_v", augment.hsv_v);
  check_share("flipud", augment.flipud);
  check_share("fliplr", augment.fliplr);
  check_share("bgr", augment.bgr);
  check_share("multi_scale", augment.multi_scale);
  if (!(augment.scale >= 0 && augment.scale < 1)) {
    refuse("scale", fmt::format("{}", augment.scale), "at least 0, less than 1");
  }
  if (augment.mosaic_tiles != 4 && augment.mosaic_tiles != 9) {
    refuse("mosaic_tiles", std::to_string(augment.mosaic_tiles), "4 or 9");
  }
  if (options.rect) {
    // As the reference does: rectangles exclude what needs a square canvas, and a shuffle.
    augment.mosaic = augment.mixup = augment.cutmix = 0;
    options.shuffle = false;
  }
  set_simd_target(options.simd == "ref" ? "" : options.simd);
  settle_device(&options, warnings);
  check_share("cpu_decode_share", options.cpu_decode_share);
  check_share("sm_decode_share", options.sm_decode_share);
  if (options.cpu_decode_share + options.sm_decode_share > 1) {
    refuse("cpu_decode_share + sm_decode_share",
           fmt::format("{}", options.cpu_decode_share + options.sm_decode_share), "at most 1");
  }
  if (options.decode_batch < 0 || options.decode_batch > 1024) {
    refuse("decode_batch", std::to_string(options.decode_batch), "0 (automatic) to 1024");
  }
  const MachineFacts machine = read_machine();
  if (options.workers == 0) {
    options.workers = default_workers(machine);
    // The GPU does the heavy part; the training process needs its cores.
    if (options.device != "cpu") options.workers = std::min(options.workers, kGpuWorkers);
  }
  if (options.memory_budget_bytes == 0) {
    options.memory_budget_bytes = default_memory_budget_bytes(machine);
  }
  if (options.memory_budget_bytes < (uint64_t{32} << 20)) {
    refuse("memory_budget", std::to_string(options.memory_budget_bytes), "at least 32 MB");
  }
  return options;
}

/// Sentences for people; `check` has the details.
std::vector<std::string> warnings_of(const DatasetReport& report) {
  std::vector<std::string> warnings;
  if (!report.cache_message.empty()) warnings.push_back(report.cache_message);
  if (report.unreadable_images > 0) {
    warnings.push_back(
        fmt::format("{} pictures that cannot be used are left out", report.unreadable_images));
  }
  if (report.unused_labels > 0) {
    warnings.push_back(
        fmt::format("{} label files beside pictures are not used: labels are looked up in the "
                    "labels folder that stands for the last images folder",
                    report.unused_labels));
  }
  size_t bad_rows = 0;
  for (const Problem& problem : report.problems) {
    bad_rows += problem.severity == Problem::Severity::error && problem.line > 0 ? 1 : 0;
  }
  if (bad_rows > 0)
    warnings.push_back(fmt::format("{} label rows are not used: see yoload check", bad_rows));
  return warnings;
}

/// Augmentations that are switched on and cannot do anything on these pictures (REPORTS R05).
void add_idle_augmentations(const LoaderOptions& options, const DatasetIndex& index,
                            std::vector<std::string>* warnings) {
  if (!options.augment_enabled) return;
  const AugmentOptions& augment = options.augment;
  std::string names;
  const auto idle = [&](bool on, const char* name) {
    if (on) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  if (index.channels != 3) {
    idle(augment.hsv_h > 0, "hsv_h"), idle(augment.hsv_s > 0, "hsv_s"),
        idle(augment.hsv_v > 0, "hsv_v");
    idle(augment.to_gray > 0, "to_gray"), idle(augment.bgr > 0, "bgr");
    if (!names.empty()) {
      warnings->push_back(fmt::format(
          "{} need three channels and do nothing on {}-channel pictures", names, index.channels));
    }
  }
  if (augment.copy_paste > 0 && index.task != Task::segment) {
    warnings->push_back("copy_paste needs outlines and does nothing but on segment data");
  }
  if (index.task == Task::pose && index.flip_idx.empty() &&
      (augment.fliplr > 0 || augment.flipud > 0)) {
    warnings->push_back("flips are off: the pose data set has no flip_idx");
  }
  if (index.task == Task::classify && !augment.auto_augment.empty()) {
    warnings->push_back("auto_augment " + augment.auto_augment +
                        " is not there yet: the hsv gains are used");
  }
}

/// Opens the data set, and settles the options that depend on its task.
DatasetIndex open_index(LoaderOptions* wanted, std::vector<std::string>* warnings) {
  const LoaderOptions& options = *wanted;
  DatasetOptions dataset;
  dataset.data = options.data;
  dataset.split = options.split;
  dataset.task = options.task;
  dataset.cache_dir = options.cache_dir;
  dataset.classes = options.classes;
  dataset.single_cls = options.single_cls;
  dataset.strict_labels = options.strict_labels;
  dataset.fraction = options.fraction;
  dataset.threads = options.workers;
  dataset.progress = options.scan_progress;
  const DecodeLimits limits = options.limits;
  const ImageProbe probe = [limits](const std::string& path) { return probe_file(path, limits); };
  DatasetReport report;
  const BytesProbe probe_bytes = [limits](std::span<const uint8_t> bytes) {
    return read_info(bytes, limits);
  };
  auto index = options.records != nullptr
                   ? index_records(options.records, dataset, probe, probe_bytes, &report)
                   : open_dataset(dataset, probe, &report);
  if (!index.ok() && options.records != nullptr &&
      index.status().code() == Code::invalid_argument) {
    throw std::invalid_argument(index.status().message());
  }
  if (!index.ok()) raise(index.status());
  if (!options.rect_order.empty() && !is_rect_order(index->images, options.rect_order)) {
    refuse("rect_order", fmt::format("{} numbers", options.rect_order.size()),
           "every picture once, sorted by height / width");
  }
  if (index->task == Task::classify) wanted->resize = ResizeMode::cover;
  for (std::string& warning : warnings_of(report)) warnings->push_back(std::move(warning));
  add_idle_augmentations(options, *index, warnings);
  if (index->images.empty()) {
    raise(Status(Code::not_found, Stage::dataset, "no usable picture",
                 options.records != nullptr ? "records" : options.data));
  }
  return std::move(*index);
}

}  // namespace

size_t Batch::img_bytes() const {
  return static_cast<size_t>(size) * static_cast<size_t>(channels) *
         static_cast<size_t>(height_px) * static_cast<size_t>(width_px) * bytes_of(dtype);
}

class Loader::Impl {
 public:
  explicit Impl(const LoaderOptions& wanted)
      : options(checked(wanted, &warnings)),
        index(open_index(&options, &warnings)),
        engine(options, index) {}

  Batch collate(std::shared_ptr<BatchSlot> slot) {
    Batch batch = std::move(slot->batch);
    collate_labels(std::move(slot->labels), index.task == Task::segment, options.overlap_mask,
                   &batch);
    return batch;
  }

  std::vector<std::string> warnings;
  LoaderOptions options;  // as it is once the data set is open
  const DatasetIndex index;
  Engine engine;
  const std::shared_ptr<const Epoch> first_epoch = engine.epoch(0);  // for what all epochs share
};

Loader::Loader(const LoaderOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

const LoaderOptions& Loader::options() const {
  return impl_->options;
}
const DatasetIndex& Loader::index() const {
  return impl_->index;
}
uint64_t Loader::images_per_epoch() const {
  return impl_->first_epoch->samples();
}
uint64_t Loader::batches_per_epoch() const {
  return impl_->first_epoch->batches();
}
uint64_t Loader::position_of(uint64_t sample) const {
  return impl_->first_epoch->position_of(sample);
}
void Loader::set_epoch(uint32_t epoch, uint64_t first_batch) {
  impl_->engine.set_epoch(epoch, first_batch);
}

bool Loader::next(Batch* batch) {
  bool ready = false;
  return next(batch, -1, &ready);
}
bool Loader::next(Batch* batch, int timeout_ms, bool* ready, uintptr_t stream) {
  auto slot = impl_->engine.next(timeout_ms, ready, stream);
  if (!slot) return false;
  *batch = impl_->collate(std::move(slot));
  return true;
}
void Loader::to_host(Batch* batch) const {
  if (batch->device < 0) return;
  const auto memory = std::make_shared<Buffer>(Buffer::allocate(batch->img_bytes()));
  wait_for_device();
  impl_->engine.device()->copy_to_host(batch->img.get(), memory->data(), batch->img_bytes());
  batch->img = std::shared_ptr<uint8_t>(memory, memory->data());
  batch->device = -1;
}
void Loader::wait_for_device() const {
  if (impl_->engine.device() != nullptr) impl_->engine.device()->drain();
}
void Loader::offer(void* memory, size_t bytes, uint64_t token, uintptr_t stream) {
  if (!impl_->options.offered_memory) {
    throw std::invalid_argument("offer() needs LoaderOptions::offered_memory");
  }
  if (memory == nullptr || bytes < buffer_bytes()) {
    refuse("bytes", std::to_string(bytes), ("at least " + std::to_string(buffer_bytes())).c_str());
  }
  impl_->engine.offer(memory, bytes, token, stream);
}
size_t Loader::buffer_bytes() const {
  return impl_->engine.largest_batch_bytes();
}
int Loader::device() const {
  return impl_->engine.device() != nullptr ? impl_->engine.device()->ordinal() : -1;
}
int Loader::prefetch() const {
  return impl_->engine.prefetch();
}

SamplePlan Loader::plan(uint32_t epoch, uint64_t position) {
  return impl_->engine.plan_alone(epoch, position).plan;
}
Batch Loader::render(uint32_t epoch, uint64_t position) {
  const uint64_t end = position_of(images_per_epoch() - 1) + 1;
  if (position >= end) {
    refuse("position", std::to_string(position), fmt::format("less than {}", end).c_str());
  }
  return impl_->collate(impl_->engine.render_alone(epoch, position));
}
std::string Loader::draws_json(uint32_t epoch, uint64_t position) const {
  const auto owner = impl_->engine.epoch(epoch);
  const SampleDraws draws = impl_->engine.samples().draw(*owner, position);
  const BatchShape shape = owner->shape_of(owner->batch_of(position));
  JsonWriter json;
  json.begin_object().key("draws");
  write_draws(draws, &json);
  json.key("records").begin_object();
  for (const uint64_t needed : positions(draws)) {
    json.field(std::to_string(needed), owner->record_at(needed));
  }
  json.end_object().field("out_height_px", shape.height_px);
  json.field("out_width_px", shape.width_px).end_object();
  return json.take();
}
const std::vector<std::string>& Loader::warnings() const {
  return impl_->warnings;
}
Report Loader::report() const {
  return make_report(impl_->engine, impl_->options, impl_->index);
}
std::vector<LedgerEntry> Loader::ledger() const {
  return impl_->engine.ledger().entries();
}
void Loader::close() {
  impl_->engine.stop();
}

}  // namespace yoload
