// The loader with its batches on a GPU: equal to the CPU where the same decoder was at work, equal
// to itself whatever the timing, exact about bad files, quiet in steady state.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "decode/test_pictures.h"
#include "device/cuda/call_counts.h"
#include "device/cuda/memory.h"
#include "device/cuda/stream.h"
#include "pipeline/test_data.h"
#include "yoload/loader.h"

namespace yoload {
namespace {

using decode::test::jpeg;
using decode::test::JpegKind;
using yoload::testing::TestData;

/// JPEGs of all samplings, gray and progressive ones, some turned by EXIF, and a few BMPs.
class JpegData {
 public:
  explicit JpegData(const std::string& name, int count = 48, int side_px = 96)
      : data_(name, count, side_px, side_px * 2 / 3) {
    for (int i = 0; i < count; ++i) {
      if (i % 16 == 15) continue;  // stays a BMP
      decode::test::Rgb rgb = decode::test::card(side_px + i % 5, side_px * 2 / 3 + i % 3);
      for (size_t k = 0; k < rgb.pixels.size(); ++k) {
        rgb.pixels[k] =
            static_cast<uint8_t>(rgb.pixels[k] + (k * 7 + static_cast<size_t>(i) * 31) % 23);
      }
      JpegKind kind;
      kind.quality = 80 + i % 20;
      kind.h_sampling = 1 + i % 2, kind.v_sampling = 1 + (i / 2) % 2;
      kind.gray = i % 11 == 5;
      kind.progressive = i % 7 == 3;
      decode::test::Bytes file = jpeg(rgb, kind);
      if (i % 6 == 2) {
        file = decode::test::with_jpeg_exif(file, decode::test::exif_block(1 + i % 8));
      }
      std::filesystem::remove(data_.image(i));
      std::ofstream(image(i), std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()),
                 static_cast<std::streamsize>(file.size()));
    }
  }
  std::string image(int i) const {
    std::string path = data_.image(i);
    if (i % 16 != 15) path.replace(path.size() - 3, 3, "jpg");
    return path;
  }
  LoaderOptions options() const {
    LoaderOptions options = data_.options();
    options.device = "cuda:0";
    options.batch_size = 8;
    options.seed = 7;
    return options;
  }

 private:
  TestData data_;
};

uint64_t hash_of(const Batch& batch) {
  uint64_t hash = XXH3_64bits_withSeed(batch.img.get(), batch.img_bytes(), batch.index);
  const auto add = [&](const auto& values) {
    hash = XXH3_64bits_withSeed(values.data(), values.size() * sizeof(values[0]), hash);
  };
  add(batch.cls), add(batch.bboxes), add(batch.batch_idx);
  for (const SampleInfo& sample : batch.samples) hash = hash * 31 + sample.record;
  return hash;
}

std::vector<uint64_t> stream(const LoaderOptions& options, int epochs = 2) {
  Loader loader(options);
  std::vector<uint64_t> hashes;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    Batch batch;
    while (loader.next(&batch)) {
      loader.to_host(&batch);
      hashes.push_back(hash_of(batch));
    }
  }
  return hashes;
}

TEST(CudaLoader, EqualsTheCpuWhereTheCpuDecodes) {
  const JpegData data("gpu_twin");
  LoaderOptions options = data.options();
  options.cpu_decode_share = 1;
  options.augment.mixup = 0.3f, options.augment.degrees = 10, options.augment.cutmix = 0.2f;
  options.augment.blur = options.augment.median_blur = options.augment.clahe = 0.1f;
  for (const Fidelity fidelity : {Fidelity::exact, Fidelity::fused}) {
    for (const DType dtype : {DType::uint8, DType::float16, DType::float32}) {
      options.fidelity = fidelity, options.dtype = dtype;
      options.device = "cuda:0";
      const std::vector<uint64_t> gpu = stream(options);
      options.device = "cpu";
      EXPECT_EQ(gpu, stream(options));
    }
  }
}

TEST(CudaLoader, DecodesWithinALevelOfTheCpu) {
  const JpegData data("gpu_level");
  LoaderOptions options = data.options();
  options.augment_enabled = false, options.shuffle = false;
  Loader gpu(options);
  options.device = "cpu";
  Loader cpu(options);
  Batch on_gpu, on_cpu;
  int worst = 0;
  while (cpu.next(&on_cpu)) {
    ASSERT_TRUE(gpu.next(&on_gpu));
    ASSERT_EQ(on_gpu.device, 0);
    gpu.to_host(&on_gpu);
    for (size_t i = 0; i < on_cpu.img_bytes(); ++i) {
      worst = std::max(worst, std::abs(int{on_cpu.img.get()[i]} - int{on_gpu.img.get()[i]}));
    }
    EXPECT_EQ(on_gpu.bboxes, on_cpu.bboxes);
  }
  // Progressive files take the multiprocessors, which are within 3.
  EXPECT_LE(worst, 3);
  const Report report = gpu.report();
  EXPECT_GT(report.decoded_by_multiprocessors + report.decoded_by_engines, 0u);
  EXPECT_GT(report.decoded_by_cpu, 0u);
}

TEST(CudaLoader, DoesNotDependOnTimingOrGrouping) {
  const JpegData data("gpu_same");
  LoaderOptions options = data.options();
  options.cpu_decode_share = 0.2f, options.sm_decode_share = 0.2f;
  const std::vector<uint64_t> expected = stream(options, 3);
  for (const int workers : {1, 3, 8}) {
    for (const int decode_batch : {1, 7, 64}) {
      options.workers = workers, options.decode_batch = decode_batch;
      options.prefetch_factor = 1 + decode_batch % 4;
      EXPECT_EQ(stream(options, 3), expected) << workers << " " << decode_batch;
    }
  }
  options.device_memory_budget_bytes = 1 << 20;
  EXPECT_EQ(stream(options, 3), expected) << "1 MB of device memory";
  options.device_memory_budget_bytes = 0;
  for (const CacheMode cache : {CacheMode::bytes, CacheMode::pixels}) {
    options.cache = cache;
    EXPECT_EQ(stream(options, 3), expected);
  }
}

/// Keeps the file up to its first scan's coded data and puts something else there: a scan of the
/// data set, which reads file headers, finds nothing wrong with it.
void spoil_coded_data(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  const size_t scan = file.find("\xFF\xDA");
  ASSERT_NE(scan, std::string::npos);
  file.resize(scan + 2 + static_cast<uint8_t>(file[scan + 3]));
  std::ofstream(path, std::ios::binary | std::ios::trunc) << file << "<html>404</html>";
}

TEST(CudaLoader, BadFilesAreReplacedAsOnTheCpu) {
  const JpegData data("gpu_bad");
  LoaderOptions options = data.options();
  options.error_budget = 1;
  options.epochs = 1;  // nothing is prepared, and found bad, beyond it
  // Their headers stay whole: the data set is scanned again because files have changed, and what a
  // scan finds bad never comes to a decoder.
  std::filesystem::resize_file(data.image(2), 300);
  std::filesystem::resize_file(data.image(9), std::filesystem::file_size(data.image(9)) / 2);
  spoil_coded_data(data.image(10));
  std::filesystem::resize_file(data.image(17), std::filesystem::file_size(data.image(17)) * 2 / 3);
  const auto ledger = [&](const std::string& device) {
    options.device = device;
    Loader loader(options);
    std::multiset<std::string> entries;
    uint64_t delivered = 0;
    Batch batch;
    while (loader.next(&batch)) delivered += static_cast<uint64_t>(batch.size);
    EXPECT_EQ(delivered, loader.images_per_epoch());
    EXPECT_EQ(delivered, 48u);
    for (const LedgerEntry& entry : loader.ledger()) {
      entries.insert(entry.path + "|" + entry.stage + "|" + entry.cause + "|" + entry.replacement);
    }
    return entries;
  };
  const auto on_cpu = ledger("cpu");
  EXPECT_EQ(on_cpu.size(), 4u);
  EXPECT_EQ(ledger("cuda:0"), on_cpu);
}

TEST(CudaLoader, SteadyStateAllocatesNothingAndWaitsForNothing) {
  const JpegData data("gpu_quiet");
  LoaderOptions options = data.options();
  options.sm_decode_share = 0.2f, options.cpu_decode_share = 0.1f;
  Loader loader(options);
  const auto epochs = [&](int count) {
    Batch batch;
    for (int epoch = 0; epoch < count; ++epoch) {
      while (loader.next(&batch)) {
      }
    }
  };
  epochs(20);
  loader.wait_for_device();
  const device::CallCounts& counts = device::call_counts();
  const uint64_t device_before = counts.device_allocations,
                 pinned_before = counts.pinned_allocations;
  const uint64_t waits_before = counts.synchronisations;
  epochs(20);
  EXPECT_EQ(counts.device_allocations, device_before);
  EXPECT_EQ(counts.pinned_allocations, pinned_before);
  EXPECT_EQ(counts.synchronisations, waits_before);
}

TEST(CudaLoader, BatchesThatAreKeptStayAsTheyAre) {
  const JpegData data("gpu_kept");
  const LoaderOptions options = data.options();
  const std::vector<uint64_t> expected = stream(options, 4);
  Loader loader(options);
  std::vector<Batch> kept;
  for (int epoch = 0; epoch < 4; ++epoch) {
    Batch batch;
    while (loader.next(&batch)) kept.push_back(std::move(batch));
  }
  ASSERT_EQ(kept.size(), expected.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    loader.to_host(&kept[i]);
    EXPECT_EQ(hash_of(kept[i]), expected[i]) << i;
  }
}

TEST(CudaLoader, OfferedMemoryIsOrderedAfterTheConsumersStream) {
  const JpegData data("gpu_offer");
  LoaderOptions options = data.options();
  const std::vector<uint64_t> expected = stream(options, 3);
  options.offered_memory = true;
  Loader loader(options);
  device::Stream consumer;
  const auto stream_handle = reinterpret_cast<uintptr_t>(consumer.get());
  std::vector<device::DeviceBlock> blocks;
  for (int i = 0; i < loader.prefetch(); ++i) {
    blocks.emplace_back(loader.buffer_bytes());
    loader.offer(blocks.back().data(), blocks.back().size(), static_cast<uint64_t>(i),
                 stream_handle);
  }
  // Copies out on the consumer's stream and gives the buffer back at once, without waiting: the
  // engine may only write after the copy.
  std::vector<device::PinnedBlock> copies;
  std::vector<Batch> batches;
  for (int epoch = 0; epoch < 3; ++epoch) {
    Batch batch;
    bool ready = false;
    while (loader.next(&batch, -1, &ready, stream_handle)) {
      copies.emplace_back(batch.img_bytes());
      device::check(cudaMemcpyAsync(copies.back().data(), batch.img.get(), batch.img_bytes(),
                                    cudaMemcpyDeviceToHost, consumer.get()),
                    "copy");
      const uint64_t token = batch.token;
      batch.img.reset();
      loader.offer(blocks[token].data(), blocks[token].size(), token, stream_handle);
      batches.push_back(std::move(batch));
    }
  }
  consumer.synchronise();
  ASSERT_EQ(batches.size(), expected.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    batches[i].img = std::shared_ptr<uint8_t>(copies[i].data(), [](uint8_t*) {});
    EXPECT_EQ(hash_of(batches[i]), expected[i]) << i;
  }
  loader.close();
}

TEST(CudaLoader, TwoLoadersAtOnceAndJumpsBetweenEpochs) {
  const JpegData data("gpu_two");
  LoaderOptions options = data.options();
  const std::vector<uint64_t> expected = stream(options, 3);
  LoaderOptions other = options;
  other.augment_enabled = false;
  const std::vector<uint64_t> expected_other = stream(other, 3);
  Loader train(options), val(other);
  std::vector<uint64_t> seen, seen_other;
  Batch a, b;
  train.set_epoch(2);
  train.next(&a);
  train.set_epoch(0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (train.next(&a)) {
      if (val.next(&b)) {
        val.to_host(&b);
        seen_other.push_back(hash_of(b));
      }
      train.to_host(&a);
      seen.push_back(hash_of(a));
    }
    while (val.next(&b)) {
      val.to_host(&b);
      seen_other.push_back(hash_of(b));
    }
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(seen_other, expected_other);
}

TEST(CudaLoader, OneSampleAloneEqualsTheStream) {
  const JpegData data("gpu_alone");
  Loader loader(data.options());
  Batch batch;
  ASSERT_TRUE(loader.next(&batch));
  loader.to_host(&batch);
  const size_t sample_bytes = batch.img_bytes() / static_cast<size_t>(batch.size);
  for (size_t i = 0; i < static_cast<size_t>(batch.size); ++i) {
    const Batch alone = loader.render(0, batch.samples[i].position);
    ASSERT_EQ(alone.img_bytes(), sample_bytes);
    EXPECT_TRUE(std::equal(alone.img.get(), alone.img.get() + sample_bytes,
                           batch.img.get() + i * sample_bytes));
  }
}

TEST(CudaLoader, ABudgetTheGpuCannotGiveIsAClearError) {
  const JpegData data("gpu_huge");
  LoaderOptions options = data.options();
  options.device = "cuda:63";
  try {
    const Loader loader(options);
    FAIL() << "GPU 63 was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("63"), std::string::npos);
  }
}

}  // namespace
}  // namespace yoload
