// Images per second of the GPU executor, pictures resident in device memory: one JSON line a row.
//
// Measured: GPU time from the end of one batch to the end of the next (upload of the plans and
// kernels; the CPU plans launches ahead), median over repetitions that rotate through eight sets of
// plans over 256 pictures (noise, 236 MB at 640), so that no cache holds what the next batch reads.
// Bytes: every element written once and every picture byte that is shown read once; the share is of
// a device-to-device copy measured in the same run.
//
// run_cuda_bench [--only AUGMENT] [--reps N]
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "augment/cuda/device_images.h"
#include "augment/cuda/run_cuda.h"
#include "augment/pixel.h"
#include "augment/training_plans.h"
#include "core/render_target.h"
#include "device/device.h"

namespace yoload {
namespace {

constexpr int kPlanSets = 8, kPictures = 256;

/// Timing events, which device::Event leaves out on purpose.
class Stopwatch {
 public:
  explicit Stopwatch(size_t marks) : events_(marks) {
    for (cudaEvent_t& event : events_) device::check(cudaEventCreate(&event), "make an event");
  }
  ~Stopwatch() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void mark(size_t i, cudaStream_t stream) {
    device::check(cudaEventRecord(events_[i], stream), "mark");
  }
  /// Milliseconds between each mark and the one before, sorted.
  std::vector<float> intervals() const {
    device::check(cudaEventSynchronize(events_.back()), "wait");
    std::vector<float> all;
    for (size_t i = 1; i < events_.size(); ++i) {
      device::check(cudaEventElapsedTime(&all.emplace_back(), events_[i - 1], events_[i]), "time");
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::vector<cudaEvent_t> events_;
};

/// Bytes read plus bytes written a second by cudaMemcpy.
double copy_bytes_per_second() {
  constexpr size_t kBytes = size_t{1} << 30;
  const device::DeviceBlock from(kBytes), to(kBytes);
  device::Stream stream;
  Stopwatch watch(12);
  for (size_t i = 0; i < 12; ++i) {
    device::check(
        cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, stream.get()),
        "copy");
    watch.mark(i, stream.get());
  }
  const std::vector<float> ms = watch.intervals();
  return 2.0 * kBytes / (ms[ms.size() / 2] * 1e-3);
}

/// Picture bytes that a plan shows: each tile's part of the box around the output's footprint.
double shown_bytes(const SamplePlan& plan, const std::vector<ImageView>& tiles) {
  double bytes = 0;
  for (const PlanLayer& layer : plan.layers) {
    double x0 = 1e18, x1 = -1e18, y0 = 1e18, y1 = -1e18;
    for (const int ox : {0, plan.out_width_px - 1}) {
      for (const int oy : {0, plan.out_height_px - 1}) {
        const CanvasPosition at = canvas_position(layer.map, ox, oy);
        const double x = static_cast<double>(at.x) * 0x1p-32,
                     y = static_cast<double>(at.y) * 0x1p-32;
        x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
      }
    }
    for (const PlanTile& tile : layer.tiles) {
      const auto source = static_cast<size_t>(tile.source);
      const double width = std::min<double>(x1, tile.x1) - std::max<double>(x0, tile.x0),
                   height = std::min<double>(y1, tile.y1) - std::max<double>(y0, tile.y0);
      if (width <= 0 || height <= 0) continue;
      const double scale = static_cast<double>(tiles[source].width_px) /
                           plan.sources[source].width_px * tiles[source].height_px /
                           plan.sources[source].height_px;
      bytes += width * height * scale * plan.channels;
    }
  }
  return bytes;
}

struct Row {
  const char* name;
  AugmentOptions augment;
  int imgsz = 640, batch = 64;
  DType dtype = DType::float16;
  MemoryFormat format = MemoryFormat::contiguous;
  Fidelity fidelity = Fidelity::exact;
};

void measure(const Row& row, const TrainingSet& set, const DeviceImages& images, int repetitions,
             double copy_rate, const std::string& gpu) {
  struct Batch {
    std::unique_ptr<TrainingPlans> plans;
    std::vector<std::vector<ImageView>> tiles;
    std::vector<DeviceSample> samples;
  };
  std::vector<Batch> batches(kPlanSets);
  double shown = 0;
  for (int s = 0; s < kPlanSets; ++s) {
    Batch& b = batches[static_cast<size_t>(s)];
    b.plans = std::make_unique<TrainingPlans>(set, row.augment, row.fidelity, row.imgsz,
                                              s * row.batch, row.batch);
    for (size_t i = 0; i < b.plans->plans.size(); ++i) {
      b.tiles.push_back(b.plans->tiles(i, images.views()));
      shown += shown_bytes(b.plans->plans[i], b.tiles.back());
    }
    for (size_t i = 0; i < b.tiles.size(); ++i) {
      b.samples.push_back({&b.plans->plans[i], b.tiles[i]});
    }
  }
  const double written = 3.0 * row.imgsz * row.imgsz * static_cast<double>(bytes_of(row.dtype));
  const double read = shown / (kPlanSets * row.batch);
  const device::DeviceBlock out(static_cast<size_t>(written) * static_cast<size_t>(row.batch));
  DeviceTarget target;
  target.data = out.data();
  target.width_px = target.height_px = row.imgsz;
  target.dtype = row.dtype, target.format = row.format;
  target.mul = {1 / 255.0f, 1 / 255.0f, 1 / 255.0f};
  CudaRenderLimits limits;
  limits.batches_in_flight = 8;
  CudaRenderer renderer(limits);
  device::Stream stream;
  for (const Batch& b : batches) renderer.render(b.samples, target, stream.get());
  stream.synchronise();

  // What the CPU spends on a batch while nothing makes it wait.
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < 4; ++i) renderer.render(batches[i].samples, target, stream.get());
  const double host_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
      4;
  stream.synchronise();

  Stopwatch watch(static_cast<size_t>(repetitions) + 1);
  for (size_t i = 0; i <= static_cast<size_t>(repetitions); ++i) {
    renderer.render(batches[i % kPlanSets].samples, target, stream.get());
    watch.mark(i, stream.get());
  }
  const std::vector<float> ms = watch.intervals();
  const double median = ms[ms.size() / 2], low = ms[ms.size() / 10], high = ms[ms.size() * 9 / 10];
  const double rate = row.batch / (median * 1e-3);
  const double moved = rate * (written + read);
  const char* dtypes[] = {"uint8", "float16", "float32", "bfloat16"};
  std::printf(
      "{\"bench\": \"run_cuda\", \"gpu\": \"%s\", \"augment\": \"%s\", \"imgsz\": %d, \"batch\": "
      "%d, "
      "\"dtype\": \"%s\", \"format\": \"%s\", \"fidelity\": \"%s\", \"img_per_s\": %.0f, "
      "\"ms_per_batch\": %.4f, \"ms_p10\": %.4f, \"ms_p90\": %.4f, \"host_us_per_batch\": %.1f, "
      "\"bytes_per_img\": %.0f, \"gb_per_s\": %.0f, \"copy_gb_per_s\": %.0f, "
      "\"share_of_copy\": %.3f}\n",
      gpu.c_str(), row.name, row.imgsz, row.batch, dtypes[static_cast<int>(row.dtype)],
      row.format == MemoryFormat::contiguous ? "contiguous" : "channels_last",
      row.fidelity == Fidelity::exact ? "exact" : "fused", rate, median, low, high, host_us,
      written + read, moved * 1e-9, copy_rate * 1e-9, moved / copy_rate);
  std::fflush(stdout);
}

std::vector<Row> rows() {
  AugmentOptions plain, turned, tilted, mixed;
  plain.blur = plain.median_blur = plain.to_gray = plain.clahe = 0;
  turned = tilted = mixed = plain;
  turned.degrees = 10, turned.shear = 2;
  tilted.degrees = 10, tilted.perspective = 0.0005f;
  mixed.mixup = 1;
  AugmentOptions no_hsv = plain;
  no_hsv.hsv_h = no_hsv.hsv_s = no_hsv.hsv_v = 0;
  std::vector<Row> all;
  for (const int imgsz : {640, 1280}) {
    for (const int batch : {64, 256}) {
      for (const DType dtype : {DType::float16, DType::uint8}) {
        for (const Fidelity fidelity : {Fidelity::exact, Fidelity::fused}) {
          all.push_back({"default", {}, imgsz, batch, dtype, MemoryFormat::contiguous, fidelity});
        }
      }
    }
  }
  // What filters, HSV, other maps and other outputs cost, against the second row here.
  const struct {
    const char* name;
    AugmentOptions augment;
  } kinds[] = {{"default", {}},
               {"no_filters", plain},
               {"no_hsv", no_hsv},
               {"rotated", turned},
               {"perspective", tilted},
               {"mixup", mixed},
               {"letterbox", AugmentOptions::none()}};
  for (const auto& kind : kinds) all.push_back({kind.name, kind.augment, 640, 256});
  all.push_back({"no_filters", plain, 640, 256, DType::bfloat16});
  all.push_back({"no_filters", plain, 640, 256, DType::float32});
  for (const DType dtype : {DType::uint8, DType::float16, DType::float32}) {
    all.push_back({"no_filters", plain, 640, 256, dtype, MemoryFormat::channels_last});
  }
  return all;
}

int run(int argc, char** argv) {
  std::string only;
  int repetitions = 100;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--reps") == 0) repetitions = std::max(std::atoi(argv[i + 1]), 10);
  }
  const auto facts = find_device(0);
  if (!facts.ok()) {
    std::fprintf(stderr, "%s\n", facts.status().to_string().c_str());
    return 1;
  }
  const double copy_rate = copy_bytes_per_second();
  int imgsz = 0;
  std::unique_ptr<TrainingSet> set;
  std::unique_ptr<DeviceImages> images;
  std::vector<Row> all = rows();
  std::stable_sort(all.begin(), all.end(),
                   [](const Row& a, const Row& b) { return a.imgsz < b.imgsz; });
  for (const Row& row : all) {
    if (!only.empty() && only != row.name) continue;
    if (row.imgsz != imgsz) {
      imgsz = row.imgsz;
      images.reset();
      set = std::make_unique<TrainingSet>(imgsz, kPictures);
      images = std::make_unique<DeviceImages>(set->views);
    }
    measure(row, *set, *images, repetitions, copy_rate, facts->name);
  }
  return 0;
}

}  // namespace
}  // namespace yoload

int main(int argc, char** argv) {
  try {
    return yoload::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
