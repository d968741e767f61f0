// Time per sample of the executors on 640 x 640 outputs: four 640 x 480 tiles, default
// hyper-parameters.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "augment/plan.h"
#include "augment/resize.h"
#include "augment/run.h"

namespace yoload {
namespace {

constexpr int kImgsz = 640;

/// Samples of a made-up data set, so that scales and centres vary as they do in training.
struct Samples {
  explicit Samples(const AugmentOptions& augment) {
    std::mt19937 random(1);
    for (int i = 0; i < 16; ++i) {
      Image image(nullptr, kImgsz, 480, 3);
      const auto view = image.mutable_view();
      for (size_t k = 0; k < 3 * view.plane_stride_bytes; ++k)
        view.data[k] = static_cast<uint8_t>(random());
      images.push_back(std::move(image));
    }
    records.resize(images.size());
    for (ImageRecord& record : records) record.width_px = kImgsz, record.height_px = 480;
    index.images = records;
    PlanContext context;
    context.augment = &augment;
    context.images = images.size();
    for (uint64_t position = 0; position < 64; ++position) {
      const SampleDraws draws = draw_sample(context, 0, position % images.size(), {0, 16, 1});
      std::vector<uint32_t> own;
      for (const uint64_t needed : positions(draws)) own.push_back(static_cast<uint32_t>(needed));
      plans.push_back(lay_out(context, draws, index, own).plan);
      auto& tiles = views.emplace_back();
      for (const uint32_t record : own) tiles.push_back(images[record].view());
    }
  }
  std::vector<Image> images;
  std::vector<ImageRecord> records;
  DatasetIndex index;
  std::vector<SamplePlan> plans;
  std::vector<std::vector<ImageView>> views;
};

AugmentOptions options(bool hsv) {
  AugmentOptions augment;
  augment.blur = augment.median_blur = augment.to_gray = augment.clahe = 0;
  if (!hsv) augment.hsv_h = augment.hsv_s = augment.hsv_v = 0;
  return augment;
}

template <class Run>
void run_samples(benchmark::State& state, const Samples& samples, const Run& run,
                 DType dtype = DType::uint8) {
  std::vector<float> out(3 * kImgsz * kImgsz);
  RenderTarget target;
  target.data = out.data();
  target.width_px = target.height_px = kImgsz;
  target.dtype = dtype;
  RenderScratch scratch;
  size_t i = 0;
  for (auto _ : state) {
    run(samples.plans[i % 64], samples.views[i % 64], target, scratch);
    ++i;
  }
  state.SetLabel(std::string(simd_target()));
}

template <class Run>
void run_samples(benchmark::State& state, const AugmentOptions& augment, const Run& run,
                 DType dtype = DType::uint8) {
  run_samples(state, Samples(augment), run, dtype);
}

void BM_MosaicWarp(benchmark::State& state) {
  run_samples(state, options(false), run_simd);
}
void BM_MosaicWarpHsv(benchmark::State& state) {
  run_samples(state, options(true), run_simd);
}
void BM_MosaicWarpHsvHalf(benchmark::State& state) {
  run_samples(state, options(true), run_simd, DType::float16);
}
void BM_MosaicWarpHsvAvx2(benchmark::State& state) {
  set_simd_target("avx2");
  run_samples(state, options(true), run_simd);
  set_simd_target("");
}
void BM_MosaicWarpHsvSse4(benchmark::State& state) {
  set_simd_target("sse4");
  run_samples(state, options(true), run_simd);
  set_simd_target("");
}
void BM_MosaicWarpHsvReference(benchmark::State& state) {
  run_samples(state, options(true), run_ref);
}
void BM_MosaicRotated(benchmark::State& state) {
  AugmentOptions augment = options(true);
  augment.degrees = 10;
  run_samples(state, augment, run_simd);
}
void BM_MosaicPerspective(benchmark::State& state) {
  AugmentOptions augment = options(true);
  augment.degrees = 10, augment.perspective = 0.0005f;
  run_samples(state, augment, run_simd);
}
void BM_MosaicCopyPaste(benchmark::State& state) {
  Samples samples(options(true));
  for (SamplePlan& plan : samples.plans) {
    plan.layers[0].pastes = {{{300, 300, 600, 320, 500, 700}}, {{800, 100, 1000, 500, 820, 400}}};
  }
  run_samples(state, samples, run_simd);
}
void BM_Letterbox(benchmark::State& state) {
  run_samples(state, AugmentOptions::none(), run_simd);
}
void BM_MosaicRotatedAvx2(benchmark::State& state) {
  set_simd_target("avx2");
  AugmentOptions augment = options(true);
  augment.degrees = 10;
  run_samples(state, augment, run_simd);
  set_simd_target("");
}
void BM_MosaicMixup(benchmark::State& state) {
  AugmentOptions augment = options(true);
  augment.mixup = 1;
  run_samples(state, augment, run_simd);
}
void BM_Resize12MegapixelTo640(benchmark::State& state) {
  const Image source(nullptr, 4000, 3000, 3);
  Image target(nullptr, 640, 480, 3);
  RenderScratch scratch;
  for (auto _ : state) resize_bilinear_simd(source.view(), target.mutable_view(), &scratch);
}

/// A filter's cost is the difference from BM_MosaicWarp, scratch picture included.
void BM_MosaicFilter(benchmark::State& state) {
  Samples samples(options(false));
  const auto kind = static_cast<FilterKind>(state.range(0));
  const PlanFilter filter = {kind, kind == FilterKind::clahe ? 8 : 7, 512};
  for (SamplePlan& plan : samples.plans) plan.filters = {filter};
  run_samples(state, samples, run_simd);
}

BENCHMARK(BM_MosaicWarp)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicWarpHsv)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicWarpHsvHalf)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicWarpHsvAvx2)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicWarpHsvSse4)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicWarpHsvReference)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicRotated)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicRotatedAvx2)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicPerspective)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicCopyPaste)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Letterbox)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicMixup)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_MosaicFilter)
    ->ArgName("kind")
    ->DenseRange(0, static_cast<int>(FilterKind::clahe))
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Resize12MegapixelTo640)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace yoload
