// The GPU executor against the reference, byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/run_cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "augment/cuda/device_images.h"
#include "augment/run.h"
#include "augment/run_testing.h"
#include "augment/training_plans.h"
#include "core/render_target.h"
#include "device/cuda/call_counts.h"

namespace yoload {
namespace {

constexpr size_t kGuard = 256;

/// A batch in device memory with poison in it and around it.
struct PoisonedOutput {
  explicit PoisonedOutput(size_t bytes) : block(bytes + 2 * kGuard) {
    device::check(cudaMemset(block.data(), 0xa5, block.size()), "poison");
  }
  uint8_t* data() const { return block.data() + kGuard; }

  /// Waits for `stream`; fails the test if the guards have changed.
  Bytes read(const device::Stream& stream) const {
    stream.synchronise();
    Bytes all(block.size());
    device::check(cudaMemcpy(all.data(), block.data(), all.size(), cudaMemcpyDeviceToHost), "read");
    for (size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(all[i], 0xa5) << "wrote before its place";
      EXPECT_EQ(all[all.size() - 1 - i], 0xa5) << "wrote behind its place";
    }
    return {all.begin() + kGuard, all.end() - kGuard};
  }
  device::DeviceBlock block;
};

/// A random batch with its pictures on the GPU.
struct BatchOnDevice {
  explicit BatchOnDevice(const BatchCase& batch) {
    for (const Case& c : batch.samples) images.emplace_back(c.tiles);
    for (size_t i = 0; i < images.size(); ++i) {
      samples.push_back({&batch.samples[i].plan, images[i].views()});
    }
    target.width_px = batch.width_px, target.height_px = batch.height_px;
    target.channels = batch.channels;
    target.dtype = batch.dtype, target.format = batch.format;
    target.mul = batch.mul, target.add = batch.add;
  }
  std::vector<DeviceImages> images;
  std::vector<DeviceSample> samples;
  DeviceTarget target;
};

void expect_equal(const Bytes& actual, const Bytes& expected, const BatchCase& c, uint32_t seed) {
  for (size_t i = 0; i < c.samples.size(); ++i) {
    const size_t from = c.place(i), bytes = c.sample_bytes();
    size_t at = 0;
    while (at < bytes && actual[from + at] == expected[from + at]) ++at;
    ASSERT_EQ(at, bytes) << "seed " << seed << ", sample " << i << ": byte " << at << " of "
                         << bytes << " is " << int{actual[from + at]} << " instead of "
                         << int{expected[from + at]} << "\n"
                         << c.samples[i].plan.to_string();
  }
}

TEST(RunCuda, RendersBatchesOfRandomPlansAsTheReferenceDoes) {
  CudaRenderLimits limits;
  limits.scratch_bytes = 1 << 18;  // several rounds for one batch
  CudaRenderer renderer(limits);
  device::Stream stream;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    BatchCase c = random_batch(seed, 6);
    const Bytes expected = reference(&c);
    BatchOnDevice on_device(c);
    const PoisonedOutput out(expected.size());
    on_device.target.data = out.data();
    renderer.render(on_device.samples, on_device.target, stream.get());
    ASSERT_NO_FATAL_FAILURE(expect_equal(out.read(stream), expected, c, seed));
  }
}

TEST(RunCuda, BatchesInFlightOnTwoStreamsDoNotDisturbEachOther) {
  CudaRenderer renderer;
  device::Stream streams[2] = {device::Stream(), device::Stream()};
  std::vector<BatchCase> cases;
  std::vector<Bytes> expected;
  std::vector<BatchOnDevice> batches;
  std::vector<PoisonedOutput> outputs;
  cases.reserve(40);
  for (uint32_t i = 0; i < 40; ++i) {
    cases.push_back(random_batch(5000 + i, 4));
    for (Case& c : cases.back().samples) c.plan.filters = {{FilterKind::blur, 5, 0}};
    expected.push_back(reference(&cases.back()));
    batches.emplace_back(cases.back());
    outputs.emplace_back(expected.back().size());
    batches.back().target.data = outputs.back().data();
  }
  device::check(cudaDeviceSynchronize(), "wait");
  for (size_t i = 0; i < batches.size(); ++i) {
    renderer.render(batches[i].samples, batches[i].target, streams[i % 2].get());
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_equal(outputs[i].read(streams[i % 2]), expected[i], cases[i],
                                         static_cast<uint32_t>(i)));
  }
}

/// One picture of 4096 x 4096 pixels that has every colour once.
Image every_colour() {
  Image image(nullptr, 4096, 4096, 3);
  const MutableImageView view = image.mutable_view();
  for (int y = 0; y < 4096; ++y) {
    for (int x = 0; x < 4096; ++x) {
      const int colour = y * 4096 + x;
      for (int c = 0; c < 3; ++c) view.at(c, y, x) = static_cast<uint8_t>(colour >> (8 * c));
    }
  }
  return image;
}

TEST(RunCuda, EveryColourThroughHsvIsEqualToo) {
  const Image image = every_colour();
  const ImageView view = image.view();
  const DeviceImages on_device({&view, 1});
  CudaRenderer renderer;
  device::Stream stream;
  RenderScratch scratch;
  for (const PlanHsv& hsv : {PlanHsv{true, 0, 32768, 32768}, PlanHsv{true, 179, 65535, 20000},
                             PlanHsv{true, 91, 777, 65535}}) {
    SamplePlan plan;
    plan.out_width_px = plan.out_height_px = 4096;
    plan.sources = {{0, 0, 4096, 4096}};
    plan.layers = {{4096, 4096, {{0, 0, 0, 4096, 4096, 0, 0}}, {}, {}}};
    plan.hsv = hsv;
    Bytes expected(size_t{3} << 24);
    RenderTarget target;
    target.data = expected.data(), target.width_px = target.height_px = 4096;
    run_simd(plan, {&view, 1}, target, scratch);
    const PoisonedOutput out(expected.size());
    DeviceTarget place;
    place.data = out.data(), place.width_px = place.height_px = 4096;
    const DeviceSample sample = {&plan, on_device.views()};
    renderer.render({&sample, 1}, place, stream.get());
    ASSERT_TRUE(out.read(stream) == expected) << "hue shift " << hsv.hue_shift;
  }
}

TEST(RunCuda, RendersTrainingSamplesAsTheCpuDoes) {
  CudaRenderer renderer;
  device::Stream stream;
  AugmentOptions turned;
  turned.degrees = 10, turned.shear = 2, turned.mixup = 0.3f;
  AugmentOptions tilted = turned;
  tilted.perspective = 0.0005f;
  AugmentOptions nine;
  nine.mosaic_tiles = 9;
  for (const AugmentOptions& augment :
       {AugmentOptions(), turned, tilted, nine, AugmentOptions::none()}) {
    for (const Fidelity fidelity : {Fidelity::exact, Fidelity::fused}) {
      const int imgsz = 320, size = 48;
      const TrainingSet set(imgsz, 16);
      const TrainingPlans batch(set, augment, fidelity, imgsz, 0, size);
      const DeviceImages on_device(set.views);
      std::vector<std::vector<ImageView>> tiles;
      std::vector<DeviceSample> samples;
      for (size_t i = 0; i < batch.plans.size(); ++i)
        tiles.push_back(batch.tiles(i, on_device.views()));
      for (size_t i = 0; i < batch.plans.size(); ++i)
        samples.push_back({&batch.plans[i], tiles[i]});
      DeviceTarget place;
      place.width_px = place.height_px = imgsz;
      place.dtype = DType::float16;
      place.mul = {1 / 255.0f, 1 / 255.0f, 1 / 255.0f};
      const size_t sample_bytes = size_t{6} * imgsz * imgsz;
      const PoisonedOutput out(sample_bytes * batch.plans.size());
      place.data = out.data();
      renderer.render(samples, place, stream.get());
      const Bytes actual = out.read(stream);
      RenderScratch scratch;
      Bytes expected(sample_bytes);
      for (size_t i = 0; i < batch.plans.size(); ++i) {
        RenderTarget target;
        target.data = expected.data(), target.width_px = target.height_px = imgsz;
        target.dtype = place.dtype, target.mul = place.mul;
        run_simd(batch.plans[i], batch.tiles(i, set.views), target, scratch);
        ASSERT_EQ(std::memcmp(expected.data(), actual.data() + i * sample_bytes, sample_bytes), 0)
            << "sample " << i << "\n"
            << batch.plans[i].to_string();
      }
    }
  }
}

TEST(RunCuda, SteadyStateNeitherAllocatesNorWaits) {
  CudaRenderer renderer;
  device::Stream stream;
  BatchCase c = random_batch(7, 16);
  const Bytes expected = reference(&c);
  BatchOnDevice on_device(c);
  const PoisonedOutput out(expected.size());
  on_device.target.data = out.data();
  device::CallCounts& counts = device::call_counts();
  for (int i = 0; i < 50; ++i) {
    const uint64_t device_before = counts.device_allocations,
                   pinned_before = counts.pinned_allocations,
                   waits_before = counts.synchronisations;
    renderer.render(on_device.samples, on_device.target, stream.get());
    EXPECT_EQ(counts.device_allocations, device_before);
    EXPECT_EQ(counts.pinned_allocations, pinned_before);
    EXPECT_EQ(counts.synchronisations, waits_before);
    if (i % 3 == 0) stream.synchronise();  // as a consumer holds the loader back
  }
  EXPECT_TRUE(out.read(stream) == expected);
}

TEST(RunCuda, RefusesAPlanOfAnotherSize) {
  CudaRenderer renderer;
  device::Stream stream;
  const BatchCase c = random_batch(1, 1);
  BatchOnDevice on_device(c);
  const PoisonedOutput out(1);
  on_device.target.data = out.data();
  on_device.target.width_px += 1;
  EXPECT_THROW(renderer.render(on_device.samples, on_device.target, stream.get()),
               std::invalid_argument);
}

}  // namespace
}  // namespace yoload
