// The GPU's two JPEG decoders against the CPU decoder. The bounds are those of the documentation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "decode/cuda/jpeg_engines.h"
#include "decode/cuda/jpeg_multiprocessors.h"
#include "decode/cuda/test_device_pictures.h"
#include "decode/jpeg/supplier.h"
#include "device/cuda/stream.h"

namespace yoload::decode {
namespace {

using namespace test;
namespace fs = std::filesystem;

// One file, where it is decoded to, and what it should be.
struct Case {
  Case(const std::string& what, const Bytes& bytes, int channels = 3, size_t pitch_bytes = 0)
      : name(what),
        facts(scan_jpeg(bytes)),
        file(std::span(bytes).first(facts.end != 0 ? facts.end : bytes.size())),
        picture(std::max(facts.width_px, 1), std::max(facts.height_px, 1), channels, pitch_bytes) {}
  DeviceJpegJob job() const { return {file.bytes(), picture.view(), {}}; }

  std::string name;
  JpegFacts facts;
  PinnedFile file;
  DevicePicture picture;
};

void expect_close(const Case& c, int bound) {
  const auto expected = decode_on_cpu(c.file.bytes(), c.picture.view().channels);
  ASSERT_TRUE(expected.ok()) << c.name << ": " << expected.status().to_string();
  if (c.facts.orientation != 1) return;  // the CPU decoder has turned it
  const Difference difference = compare(c.picture, expected->image.view());
  EXPECT_LE(difference.most, bound) << c.name << ", mean " << difference.mean;
  EXPECT_TRUE(difference.padding_kept) << c.name;
}

struct Size {
  int width_px, height_px;
};
constexpr Size kSizes[] = {{640, 427}, {333, 250}, {129, 65}, {64, 64}, {17, 33}, {16, 16},
                           {9, 7},     {8, 8},     {7, 31},   {1, 40},  {40, 1},  {1, 1}};

// Every kind of file that `takes` admits, in every size.
std::vector<Case> make_cases(bool (*takes)(const JpegFacts&), bool with_progressive) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const Bytes& bytes, int channels, size_t pitch) {
    if (takes(scan_jpeg(bytes))) cases.emplace_back(name, bytes, channels, pitch);
  };
  for (const auto& [width, height] : kSizes) {
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    const Rgb rgb = busy_picture(width, height);
    for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
      for (const int restart : {0, 1, 7}) {
        for (const bool progressive : {false, true}) {
          if (progressive && !with_progressive) continue;
          const Bytes bytes = jpeg(rgb, {.h_sampling = h,
                                         .v_sampling = v,
                                         .progressive = progressive,
                                         .quality = 90,
                                         .restart_interval_mcus = restart});
          const std::string name = size + " " + std::string(sampling_name(scan_jpeg(bytes))) +
                                   " restart " + std::to_string(restart) +
                                   (progressive ? " progressive" : "");
          add(name, bytes, 3, 0);
          if (restart == 0) {
            add(name + " padded", bytes, 3, static_cast<size_t>(width + 255) / 256 * 256);
            add(name + " luma", bytes, 1, 0);
          }
        }
      }
    }
    const Bytes gray = jpeg(rgb, {.gray = true, .quality = 90});
    add(size + " gray", gray, 3, 0);
    add(size + " gray luma", gray, 1, 0);
  }
  return cases;
}

std::vector<Case> photo_cases(bool (*takes)(const JpegFacts&)) {
  std::vector<Case> cases;
  const char* shared = std::getenv("YOLOAD_SHARED_DATA");
  if (shared == nullptr) return cases;
  for (const char* folder : {"coco256", "bccd", "aerial-cars", "deeppcb-mini"}) {
    const auto paths = jpegs_under(fs::path(shared) / folder);
    for (size_t i = 0; i < paths.size() && i < 300; ++i) {
      const Bytes bytes = read_file(paths[i]);
      if (takes(scan_jpeg(bytes))) cases.emplace_back(paths[i], bytes);
    }
  }
  return cases;
}

std::vector<DeviceJpegJob> jobs_of(const std::vector<Case>& cases) {
  std::vector<DeviceJpegJob> jobs;
  for (const Case& c : cases) jobs.push_back(c.job());
  return jobs;
}

// Work put into `stream` from now on begins some 50 ms later.
void hold(const device::Stream& stream) {
  device::check(
      cudaLaunchHostFunc(
          stream.get(), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); },
          nullptr),
      "hold a stream");
}

// Before a decode: writes over its destination, in the stream that is to decode. A decoder that
// works beside the stream loses its pixels to this.
void spoil(const Case& c, const device::Stream& stream) {
  const MutableImageView to = c.picture.view();
  device::check(cudaMemsetAsync(to.data, 0x5A, to.plane_stride_bytes * 3, stream.get()), "spoil");
}

// After it: what work behind the decode in its stream reads. Memory is there from the beginning,
// because asking for it may wait for the GPU.
class Copy {
 public:
  explicit Copy(const Case& c) : view_(c.picture.view()), block_(view_.plane_stride_bytes * 3) {}
  void take(const device::Stream& stream) {
    device::check(cudaMemcpyAsync(block_.data(), view_.data, block_.size(), cudaMemcpyDeviceToHost,
                                  stream.get()),
                  "copy a picture");
  }
  // The stream must have been waited for.
  std::vector<uint8_t> bytes() const { return {block_.data(), block_.data() + block_.size()}; }

 private:
  MutableImageView view_;
  device::PinnedBlock block_;
};

std::vector<Case> photo_like_cases(int count) {
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) {
    cases.emplace_back("picture " + std::to_string(i),
                       jpeg(busy_picture(320, 240, static_cast<uint32_t>(i)),
                            {.h_sampling = 1 + i % 2, .v_sampling = 1 + i / 2 % 2}));
  }
  return cases;
}

// ---- engines ----

class Engines : public testing::Test {
 protected:
  void SetUp() override {
    auto created = JpegEngines::create(0, {.max_batch = 64});
    if (!created.ok()) GTEST_SKIP() << "no JPEG engines: " << created.status().to_string();
    engines_ = std::move(created).value();
  }
  void decode(std::vector<DeviceJpegJob>* jobs) {
    engines_->decode(*jobs, stream_.get());
    stream_.synchronise();
  }
  void expect_all_close(const std::vector<Case>& cases, int bound) {
    auto jobs = jobs_of(cases);
    decode(&jobs);
    for (size_t i = 0; i < cases.size(); ++i) {
      ASSERT_TRUE(jobs[i].status.ok()) << cases[i].name << ": " << jobs[i].status.to_string();
      expect_close(cases[i], bound);
    }
  }

  std::unique_ptr<JpegEngines> engines_;
  device::Stream stream_;
};

TEST_F(Engines, GiveTheCpuDecodersPixelsWithinOneLevel) {
  expect_all_close(make_cases(engines_take, false), 1);
}

TEST_F(Engines, GiveTheSameForTheLongestSides) {
  std::vector<Case> cases;
  for (const auto& [width, height] : {std::pair{4096, 2160}, {16384, 16}, {16, 16384}}) {
    for (const int sampling : {1, 2}) {
      cases.emplace_back(
          std::to_string(width) + "x" + std::to_string(height),
          jpeg(busy_picture(width, height), {.h_sampling = sampling, .v_sampling = sampling}));
      ASSERT_TRUE(engines_take(cases.back().facts));
    }
  }
  expect_all_close(cases, 1);
}

TEST_F(Engines, GiveTheSameForPhotos) {
  const auto cases = photo_cases(engines_take);
  if (cases.empty()) GTEST_SKIP() << "YOLOAD_SHARED_DATA names no photos";
  expect_all_close(cases, 1);
}

TEST_F(Engines, GiveTheSameWhateverElseIsInTheBatch) {
  const auto cases = make_cases(engines_take, false);
  auto jobs = jobs_of(cases);
  decode(&jobs);
  std::vector<std::vector<uint8_t>> together;
  for (const Case& c : cases) together.push_back(c.picture.download());
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937 random(3);
  std::shuffle(order.begin(), order.end(), random);
  for (size_t at = 0; at < order.size();) {
    const size_t batch = std::min<size_t>(1 + random() % 40, order.size() - at);
    std::vector<DeviceJpegJob> some;
    for (size_t i = at; i < at + batch; ++i) some.push_back(cases[order[i]].job());
    decode(&some);
    at += batch;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].picture.download(), together[i]) << cases[i].name;
  }
}

TEST_F(Engines, LoseOnlyTheBrokenFileOfABatch) {
  std::vector<Case> cases;
  for (uint32_t i = 0; i < 23; ++i) {
    cases.emplace_back("good " + std::to_string(i),
                       jpeg(busy_picture(200 + static_cast<int>(i), 100, i), {.h_sampling = 2}));
  }
  const Bytes good = jpeg(busy_picture(200, 100));
  Bytes headless = good;  // no frame header to be found
  for (size_t i = 0; i + 1 < headless.size(); ++i) {
    if (headless[i] == 0xFF && headless[i + 1] == 0xC0) headless[i + 1] = 0xFE;
  }
  const size_t kBroken[] = {0, 7, 8, 22};
  std::vector<Case> broken;
  for (size_t i = 0; i < 4; ++i) broken.emplace_back("broken", headless);
  auto jobs = jobs_of(cases);
  for (size_t i = 0; i < 4; ++i) jobs[kBroken[i]].bytes = broken[i].file.bytes();
  decode(&jobs);
  for (size_t i = 0; i < cases.size(); ++i) {
    if (std::count(std::begin(kBroken), std::end(kBroken), i) != 0) {
      EXPECT_FALSE(jobs[i].status.ok());
    } else {
      EXPECT_TRUE(jobs[i].status.ok()) << jobs[i].status.to_string();
      expect_close(cases[i], 1);
    }
  }
  // And the engines go on as before.
  expect_all_close(cases, 1);
}

TEST_F(Engines, AllocateNothingInSteadyState) {
  const auto cases = make_cases(engines_take, false);
  std::mt19937 random(11);
  const auto round = [&](size_t least, size_t most) {
    std::vector<DeviceJpegJob> some;
    const size_t batch = least + random() % (most - least + 1);
    for (size_t i = 0; i < batch; ++i) some.push_back(cases[random() % cases.size()].job());
    engines_->decode(some, stream_.get());
    for (const DeviceJpegJob& job : some) EXPECT_TRUE(job.status.ok());
  };
  auto all = jobs_of(cases);
  for (int i = 0; i < 4; ++i) decode(&all);  // every lane has seen the largest batch and picture
  for (int i = 0; i < 10; ++i) round(1, 64);
  stream_.synchronise();
  const auto& counts = device::call_counts();
  const uint64_t on_device = counts.device_allocations, pinned = counts.pinned_allocations;
  for (int i = 0; i < 40; ++i) round(1, 64);
  stream_.synchronise();
  EXPECT_EQ(counts.device_allocations, on_device);
  EXPECT_EQ(counts.pinned_allocations, pinned);
}

TEST_F(Engines, KeepBatchesInFlightApart) {
  std::vector<std::vector<Case>> batches;
  for (uint32_t b = 0; b < 6; ++b) {
    std::vector<Case> cases;
    for (uint32_t i = 0; i < 32; ++i) {
      cases.emplace_back("batch " + std::to_string(b) + " picture " + std::to_string(i),
                         jpeg(busy_picture(320, 200 + static_cast<int>(i), 100 * b + i)));
    }
    batches.push_back(std::move(cases));
  }
  device::Stream streams[2];
  std::vector<std::vector<DeviceJpegJob>> jobs;
  for (const auto& cases : batches) jobs.push_back(jobs_of(cases));
  for (size_t b = 0; b < batches.size(); ++b) engines_->decode(jobs[b], streams[b % 2].get());
  for (const device::Stream& stream : streams) stream.synchronise();
  for (const auto& cases : batches) {
    for (const Case& c : cases) expect_close(c, 1);
  }
}

TEST_F(Engines, DecodeBehindEarlierWorkOfTheStreamAndBeforeLater) {
  const std::vector<Case> cases = photo_like_cases(24);
  auto jobs = jobs_of(cases);
  std::vector<Copy> copies(cases.begin(), cases.end());
  for (int round = 0; round < 4; ++round) {  // more than there are states
    hold(stream_);
    for (const Case& c : cases) spoil(c, stream_);
    engines_->decode(jobs, stream_.get());
    for (Copy& copy : copies) copy.take(stream_);
    stream_.synchronise();
    for (size_t i = 0; i < cases.size(); ++i) {
      ASSERT_TRUE(jobs[i].status.ok()) << jobs[i].status.to_string();
      expect_close(cases[i], 1);
      EXPECT_EQ(copies[i].bytes(), cases[i].picture.download()) << cases[i].name;
    }
  }
}

// ---- multiprocessors ----

class Multiprocessors : public testing::Test {
 protected:
  static constexpr int kWorkers = 3;
  void SetUp() override {
    auto created = JpegMultiprocessors::create(0, {.workers = kWorkers});
    ASSERT_TRUE(created.ok()) << created.status().to_string();
    decoder_ = std::move(created).value();
  }
  // Every worker in a thread and a stream of its own takes each third job.
  void decode(std::vector<DeviceJpegJob>* jobs) {
    std::vector<std::thread> threads;
    for (int worker = 0; worker < kWorkers; ++worker) {
      threads.emplace_back([&, worker] {
        for (size_t i = static_cast<size_t>(worker); i < jobs->size(); i += kWorkers) {
          decoder_->decode(worker, &(*jobs)[i], streams_[worker].get());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const device::Stream& stream : streams_) stream.synchronise();
  }
  void expect_all_close(const std::vector<Case>& cases, int bound) {
    auto jobs = jobs_of(cases);
    decode(&jobs);
    for (size_t i = 0; i < cases.size(); ++i) {
      ASSERT_TRUE(jobs[i].status.ok()) << cases[i].name << ": " << jobs[i].status.to_string();
      expect_close(cases[i], bound);
    }
  }

  std::unique_ptr<JpegMultiprocessors> decoder_;
  device::Stream streams_[kWorkers];
};

TEST_F(Multiprocessors, GiveTheCpuDecodersPixelsWithinThreeLevels) {
  expect_all_close(make_cases(multiprocessors_take, true), 3);
}

TEST_F(Multiprocessors, GiveTheSameForPhotos) {
  const auto cases = photo_cases(multiprocessors_take);
  if (cases.empty()) GTEST_SKIP() << "YOLOAD_SHARED_DATA names no photos";
  expect_all_close(cases, 3);
}

TEST_F(Multiprocessors, DecodeBehindEarlierWorkOfTheStreamAndBeforeLater) {
  const std::vector<Case> cases = photo_like_cases(12);
  auto jobs = jobs_of(cases);
  std::vector<Copy> copies(cases.begin(), cases.end());
  hold(streams_[0]);
  for (size_t i = 0; i < cases.size(); ++i) {
    spoil(cases[i], streams_[0]);
    decoder_->decode(0, &jobs[i], streams_[0].get());
    copies[i].take(streams_[0]);
  }
  streams_[0].synchronise();
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_TRUE(jobs[i].status.ok()) << jobs[i].status.to_string();
    expect_close(cases[i], 3);
    EXPECT_EQ(copies[i].bytes(), cases[i].picture.download()) << cases[i].name;
  }
}

TEST_F(Multiprocessors, LoseOnlyTheBrokenFile) {
  std::vector<Case> cases;
  cases.emplace_back("good", jpeg(busy_picture(200, 100), {.progressive = true}));
  cases.emplace_back("broken", Bytes{0xFF, 0xD8, 0xFF, 0xD9});
  cases.emplace_back("good too", jpeg(busy_picture(300, 200)));
  auto jobs = jobs_of(cases);
  decode(&jobs);
  EXPECT_FALSE(jobs[1].status.ok());
  for (const size_t i : {0, 2}) {
    EXPECT_TRUE(jobs[i].status.ok()) << jobs[i].status.to_string();
    expect_close(cases[i], 3);
  }
}

TEST_F(Multiprocessors, AllocateNothingInSteadyState) {
  const auto cases = make_cases(multiprocessors_take, true);
  auto jobs = jobs_of(cases);
  // Each worker's slots take turns: enough rounds bring every slot the largest picture.
  std::vector<DeviceJpegJob> largest(36, cases.front().job());
  decode(&largest);
  for (int i = 0; i < 5; ++i) decode(&jobs);
  const auto& counts = device::call_counts();
  const uint64_t on_device = counts.device_allocations, pinned = counts.pinned_allocations;
  for (int i = 0; i < 3; ++i) decode(&jobs);
  EXPECT_EQ(counts.device_allocations, on_device);
  EXPECT_EQ(counts.pinned_allocations, pinned);
}

}  // namespace
}  // namespace yoload::decode
