// The loader as a whole: order, reproducibility, endings and bad files.
// SPDX-License-Identifier: Apache-2.0
#include "yoload/loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "core/dataset_index.h"
#include "core/plan.h"
#include "decode/test_pictures.h"
#include "pipeline/test_data.h"
#include "yoload/records.h"

namespace yoload {
namespace {

using ::testing::HasSubstr;
using yoload::testing::TestData;

uint64_t hash_of(const Batch& batch) {
  uint64_t hash = XXH3_64bits_withSeed(batch.img.get(), batch.img_bytes(), batch.index);
  const auto add = [&](const auto& values) {
    hash = XXH3_64bits_withSeed(values.data(), values.size() * sizeof(values[0]), hash);
  };
  add(batch.cls), add(batch.bboxes), add(batch.batch_idx);
  for (const SampleInfo& sample : batch.samples) hash = hash * 31 + sample.record;
  return hash;
}

/// Hashes of the batches of `epochs` epochs.
std::vector<uint64_t> stream(const LoaderOptions& options, int epochs = 2) {
  Loader loader(options);
  std::vector<uint64_t> hashes;
  Batch batch;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    while (loader.next(&batch)) hashes.push_back(hash_of(batch));
  }
  return hashes;
}

TEST(Loader, DeliversEveryRecordOncePerEpochInBatchOrder) {
  const TestData data("once", 30);
  Loader loader(data.options());
  EXPECT_EQ(loader.batches_per_epoch(), 8u);
  for (uint32_t epoch = 0; epoch < 2; ++epoch) {
    std::multiset<uint32_t> records;
    Batch batch;
    uint64_t expected = 0;
    while (loader.next(&batch)) {
      EXPECT_EQ(batch.index, expected++);
      EXPECT_EQ(batch.epoch, epoch);
      EXPECT_EQ(batch.size, batch.index == 7 ? 2 : 4);
      for (const SampleInfo& sample : batch.samples) records.insert(sample.record);
      for (size_t i = 0; i < batch.cls.size(); ++i) {
        EXPECT_LT(batch.batch_idx[i], static_cast<float>(batch.size));
        for (size_t k = 0; k < 4; ++k) {
          EXPECT_GE(batch.bboxes[4 * i + k], 0.0f);
          EXPECT_LE(batch.bboxes[4 * i + k], 1.0f);
        }
      }
    }
    EXPECT_EQ(expected, 8u);
    EXPECT_EQ(records.size(), 30u);
    EXPECT_EQ(std::set<uint32_t>(records.begin(), records.end()).size(), 30u);
  }
}

/// Samples of one epoch by position, over all ranks: hash of the picture, and how often repeated.
struct Shards {
  std::map<uint64_t, uint64_t> pixels;
  std::vector<uint64_t> batches;  ///< of each rank
  std::multiset<uint32_t> records;
  int repeated = 0;
};

Shards shards(LoaderOptions options, int world_size) {
  Shards all;
  options.world_size = world_size;
  for (options.rank = 0; options.rank < world_size; ++options.rank) {
    Loader loader(options);
    all.batches.push_back(loader.batches_per_epoch());
    Batch batch;
    while (loader.next(&batch)) {
      const size_t bytes = batch.img_bytes() / static_cast<size_t>(batch.size);
      for (size_t i = 0; i < batch.samples.size(); ++i) {
        const SampleInfo& sample = batch.samples[i];
        all.pixels[sample.position] = XXH3_64bits(batch.img.get() + i * bytes, bytes);
        all.records.insert(sample.record);
        all.repeated += sample.repeated ? 1 : 0;
        EXPECT_EQ(sample.position % static_cast<uint64_t>(world_size),
                  static_cast<uint64_t>(options.rank));
      }
    }
  }
  return all;
}

TEST(Loader, RanksTogetherDeliverTheEpochOfOneRank) {
  const TestData data("ranks", 30);
  const LoaderOptions options = data.options();
  const Shards one = shards(options, 1);
  EXPECT_EQ(one.pixels.size(), 30u);
  for (const int world_size : {2, 3, 4, 8}) {
    const Shards many = shards(options, world_size);
    // Training: every rank steps as often; what is there once more is flagged.
    EXPECT_EQ(std::set<uint64_t>(many.batches.begin(), many.batches.end()).size(), 1u);
    EXPECT_EQ(many.repeated, (30 + world_size - 1) / world_size * world_size - 30);
    for (const auto& [position, hash] : one.pixels) {
      EXPECT_EQ(many.pixels.at(position), hash) << position << " of " << world_size;
    }
  }
}

TEST(Loader, RanksOfAValidationCoverEveryPictureExactlyOnce) {
  const TestData data("val_ranks", 30);
  LoaderOptions options = data.options();
  options.augment_enabled = false;
  options.shuffle = false;
  for (const bool rect : {false, true}) {
    options.rect = rect;
    for (const int world_size : {1, 4, 7}) {
      const Shards all = shards(options, world_size);
      EXPECT_EQ(all.records.size(), 30u);
      EXPECT_EQ(std::set<uint32_t>(all.records.begin(), all.records.end()).size(), 30u);
      EXPECT_EQ(all.repeated, 0);
    }
  }
}

TEST(Loader, RefusesARankOutsideOfItsWorld) {
  const TestData data("bad_rank", 4);
  LoaderOptions options = data.options();
  options.rank = 2;
  options.world_size = 2;
  EXPECT_THROW(Loader loader(options), std::invalid_argument);
}

TEST(Loader, RecordsInMemoryGiveTheBatchesOfTheirFiles) {
  const TestData data("records", 12);
  const LoaderOptions options = data.options();
  const auto expected = stream(options);
  LoaderOptions in_memory = options;
  {
    const Loader files(options);
    const DatasetIndex& index = files.index();
    auto set = std::make_shared<RecordSet>();
    set->names = index.names;
    for (size_t i = 0; i < index.images.size(); ++i) {
      Record record;
      record.path = index.path(i);
      if (i % 2 == 0) {  // bytes and paths may mix
        std::ifstream file(record.path, std::ios::binary);
        record.contents.assign(std::istreambuf_iterator<char>(file), {});
      }
      for (const LabelRow& row : index.rows_of(i)) {
        record.cls.push_back(row.cls);
        record.boxes.insert(record.boxes.end(), {row.x, row.y, row.w, row.h});
      }
      set->records.push_back(std::move(record));
    }
    in_memory.data.clear();
    in_memory.records = set;
  }
  EXPECT_EQ(stream(in_memory), expected);
}

TEST(Loader, NamesTheRecordAndColumnThatAreWrong) {
  const TestData data("bad_records", 1);
  auto set = std::make_shared<RecordSet>();
  set->names = {"a", "b"};
  set->records.resize(2);
  for (Record& record : set->records) record.path = Loader(data.options()).index().path(0);
  set->records[1].cls = {2};
  set->records[1].boxes = {0.5F, 0.5F, 0.1F, 0.1F};
  LoaderOptions options = data.options();
  options.records = set;
  try {
    const Loader loader(options);
    FAIL() << "class 2 of two was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("records[1]"));
    EXPECT_THAT(error.what(), HasSubstr("cls"));
  }
}

TEST(Loader, StreamDoesNotDependOnThreadsBudgetCachePrefetchOrSimd) {
  const TestData data("same", 40);
  LoaderOptions base = data.options();
  base.augment.mixup = 0.3f;
  const auto expected = stream(base);
  ASSERT_EQ(expected.size(), 20u);
  const auto expect_same = [&](const char* what, auto change) {
    LoaderOptions options = base;
    change(options);
    EXPECT_EQ(stream(options), expected) << what;
  };
  expect_same("1 thread", [](auto& o) { o.workers = 1; });
  expect_same("7 threads", [](auto& o) { o.workers = 7; });
  expect_same("budget", [](auto& o) { o.memory_budget_bytes = uint64_t{33} << 20; });
  expect_same("cache bytes", [](auto& o) { o.cache = CacheMode::bytes; });
  expect_same("cache pixels", [](auto& o) { o.cache = CacheMode::pixels; });
  expect_same("prefetch", [](auto& o) { o.prefetch_factor = 1; });
  expect_same("reference executor", [](auto& o) { o.simd = "ref"; });
  expect_same("scalar target", [](auto& o) { o.simd = "scalar"; });
}

/// Puts JPEG files, which are told by content, in the place of the pictures.
void write_jpegs(const TestData& data, int count) {
  for (int i = 0; i < count; ++i) {
    const bool turned = i % 2 == 1;
    const decode::test::JpegKind kind = {.h_sampling = 1 + i % 3 / 2, .progressive = i % 7 == 0};
    const auto file =
        decode::test::jpeg(decode::test::card(turned ? 64 : 96, turned ? 96 : 64), kind);
    std::ofstream(data.image(i), std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()),
               static_cast<std::streamsize>(file.size()));
  }
}

TEST(Loader, OurOwnJpegDecoderGivesTheStreamAndTheLedgerOfTheLibrary) {
  const TestData data("own_jpeg", 40);
  write_jpegs(data, 40);
  LoaderOptions options = data.options();
  options.decode = JpegDecode::libjpeg_turbo;
  stream(options, 1);  // fills the label cache, so that only the running loader meets what follows
  for (const int i : {4, 5, 22}) std::filesystem::resize_file(data.image(i), 1500);
  const auto run = [&] {
    Loader loader(options);
    std::vector<uint64_t> hashes;
    Batch batch;
    for (int epoch = 0; epoch < 2; ++epoch) {
      while (loader.next(&batch)) hashes.push_back(hash_of(batch));
    }
    std::multiset<std::string> ledger;
    for (const LedgerEntry& entry : loader.ledger()) {
      // What a third epoch, which nobody asked for, has met is a matter of time.
      if (entry.epoch < 2) {
        ledger.insert(fmt::format("{} {} {} {} {}", entry.epoch, entry.position, entry.path,
                                  entry.cause, entry.replacement));
      }
    }
    return std::tuple(hashes, ledger, loader.report().own_jpeg_decodes);
  };
  const auto [hashes, ledger, none] = run();
  EXPECT_EQ(hashes.size(), 20u);
  EXPECT_GE(ledger.size(), 3u);
  EXPECT_EQ(none, 0u);
  options.decode = JpegDecode::automatic;
  for (const int workers : {1, 2, 5}) {
    options.workers = workers;
    const auto [own_hashes, own_ledger, own] = run();
    EXPECT_EQ(own_hashes, hashes) << workers;
    EXPECT_EQ(own_ledger, ledger) << workers;
    EXPECT_GE(own, 2u * 30) << workers;
  }
}

TEST(Loader, SeedsAndEpochsDiffer) {
  const TestData data("seeds", 16);
  LoaderOptions options = data.options();
  const auto first = stream(options, 2);
  options.seed = 1;
  const auto second = stream(options, 2);
  std::set<uint64_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  EXPECT_EQ(all.size(), 16u);
}

TEST(Loader, ASampleRegeneratedAloneEqualsTheOneInTheStream) {
  const TestData data("alone", 20);
  LoaderOptions options = data.options();
  options.augment.mixup = 0.5f;
  Loader loader(options);
  Batch batch;
  while (loader.next(&batch)) {
    const size_t sample_bytes = batch.img_bytes() / static_cast<size_t>(batch.size);
    size_t object = 0;
    for (size_t i = 0; i < batch.samples.size(); ++i) {
      const Batch alone = loader.render(batch.epoch, batch.samples[i].position);
      ASSERT_EQ(alone.img_bytes(), sample_bytes);
      EXPECT_EQ(memcmp(alone.img.get(), batch.img.get() + i * sample_bytes, sample_bytes), 0);
      for (size_t k = 0; k < alone.cls.size(); ++k, ++object) {
        EXPECT_EQ(alone.cls[k], batch.cls[object]);
        for (size_t b = 0; b < 4; ++b)
          EXPECT_EQ(alone.bboxes[4 * k + b], batch.bboxes[4 * object + b]);
      }
    }
    EXPECT_EQ(object, batch.cls.size());
  }
}

TEST(Loader, DecodesOncePerDeliveredSample) {
  const TestData data("decodes", 64);
  LoaderOptions options = data.options();
  options.epochs = 3;
  Loader loader(options);
  Batch batch;
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (loader.next(&batch)) {
    }
  }
  EXPECT_EQ(loader.report().decodes, 3u * 64);
}

TEST(Loader, ASmallWindowStillDecodesOnce) {
  const TestData data("window", 200);
  LoaderOptions options = data.options();
  options.window = 32;
  options.epochs = 1;
  Loader loader(options);
  Batch batch;
  while (loader.next(&batch)) {
  }
  EXPECT_EQ(loader.report().decodes, 200u);
}

TEST(Loader, KeptBatchesNeverChange) {
  const TestData data("kept", 40);
  Loader loader(data.options());
  std::vector<Batch> kept;
  std::vector<uint64_t> hashes;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (Batch batch; loader.next(&batch);) {
      hashes.push_back(hash_of(batch));
      kept.push_back(std::move(batch));
    }
  }
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(hash_of(kept[i]), hashes[i]);
}

TEST(Loader, SetEpochResumesAnywhereAndRepeatsAfterABreak) {
  const TestData data("resume", 40);
  const auto expected = stream(data.options(), 3);  // 10 batches an epoch
  Loader loader(data.options());
  Batch batch;
  for (int round = 0; round < 20; ++round) {
    loader.set_epoch(2, 7);
    ASSERT_TRUE(loader.next(&batch));
    EXPECT_EQ(hash_of(batch), expected[27]);
    loader.set_epoch(0);
    ASSERT_TRUE(loader.next(&batch));
    EXPECT_EQ(hash_of(batch), expected[0]);
  }
  loader.set_epoch(1);
  for (size_t i = 10; i < 20; ++i) {
    ASSERT_TRUE(loader.next(&batch));
    EXPECT_EQ(hash_of(batch), expected[i]);
  }
  EXPECT_FALSE(loader.next(&batch));
}

TEST(Loader, EndsQuicklyAtAnyMoment) {
  const TestData data("end", 40);
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < 100; ++round) {
    Loader loader(data.options());
    Batch batch;
    for (int i = 0; i < round % 5; ++i) loader.next(&batch);
    if (round % 3 == 0) loader.close();
  }
  // Generous: a shared machine may be slow, a hang would be minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Loader, CloseWakesAWaitingConsumer) {
  const TestData data("close", 8);
  Loader loader(data.options());
  loader.close();
  Batch batch;
  EXPECT_THROW(
      while (true) {
        if (!loader.next(&batch)) continue;
      },
      std::runtime_error);
}

TEST(Loader, ReplacesUnreadablePicturesAndWritesThemDownOnce) {
  const TestData data("bad", 60);
  LoaderOptions options = data.options();
  const auto index_first = stream(options, 1).size();  // fills the label cache
  std::filesystem::resize_file(data.image(3), 100);
  std::filesystem::remove(data.image(7));
  std::ofstream(data.image(11)) << "<html>404</html>";
  // The scan saw good files: only the running loader meets these.
  LoaderOptions scanned = options;
  scanned.epochs = 1;  // nothing is prepared beyond it
  Loader loader(scanned);
  EXPECT_EQ(index_first, 15u);
  std::multiset<std::string> replaced;
  Batch batch;
  uint64_t delivered = 0;
  while (loader.next(&batch)) {
    for (const SampleInfo& sample : batch.samples) {
      ++delivered;
      if (sample.replaced) replaced.insert(std::to_string(sample.position));
    }
  }
  EXPECT_EQ(delivered, loader.images_per_epoch());
  for (const LedgerEntry& entry : loader.ledger()) {
    EXPECT_FALSE(entry.cause.empty());
    EXPECT_FALSE(entry.replacement.empty());
  }
  EXPECT_EQ(loader.ledger().size(), replaced.size());
}

TEST(Loader, FilesThatVanishWhileRunningAreReplaced) {
  const TestData data("vanish", 60);
  Loader loader(data.options());
  Batch batch;
  ASSERT_TRUE(loader.next(&batch));
  for (const int i : {1, 2, 5}) std::filesystem::remove(data.image(i));
  for (int epoch = 0; epoch < 3; ++epoch) {
    while (loader.next(&batch)) {
    }
  }
  std::set<std::string> paths;
  for (const LedgerEntry& entry : loader.ledger()) {
    paths.insert(entry.path);
    EXPECT_THAT(entry.cause, HasSubstr("not found"));
  }
  EXPECT_EQ(paths.size(), 3u);
}

TEST(Loader, StopsWhenTheErrorBudgetIsSpent) {
  const TestData data("budget", 60);
  Loader loader(data.options());
  for (int i = 0; i < 40; ++i) std::filesystem::remove(data.image(i));
  Batch batch;
  try {
    for (int epoch = 0; epoch < 4; ++epoch) {
      while (loader.next(&batch)) {
      }
    }
    FAIL() << "40 of 60 pictures are gone";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("error_budget"));
  }
}

TEST(Loader, RefusesOptionsThatMakeNoSenseByName) {
  const TestData data("refuse", 4);
  const auto expect_refusal = [&](const char* name, auto change) {
    LoaderOptions options = data.options();
    change(options);
    try {
      Loader loader(options);
      FAIL() << name;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  };
  expect_refusal("batch_size", [](auto& o) { o.batch_size = 0; });
  expect_refusal("imgsz", [](auto& o) { o.imgsz = 5; });
  expect_refusal("mosaic", [](auto& o) { o.augment.mosaic = 1.5f; });
  expect_refusal("scale", [](auto& o) { o.augment.scale = 1; });
  expect_refusal("memory_budget", [](auto& o) { o.memory_budget_bytes = 5; });
  LoaderOptions missing = data.options();
  missing.data = "no/such/data.yaml";
  EXPECT_THROW(Loader loader(missing), std::runtime_error);
}

TEST(Loader, CloseMosaicTurnsMosaicOffInTheLastEpochs) {
  const TestData data("closing", 16);
  LoaderOptions options = data.options();
  options.epochs = 5;
  options.augment.close_mosaic = 2;
  Loader loader(options);
  EXPECT_GT(loader.plan(2, 0).sources.size(), 1u);
  EXPECT_EQ(loader.plan(3, 0).sources.size(), 1u);
}

TEST(Loader, RectBatchesForValidationShareAShape) {
  const TestData data("rect", 12, 128, 64);
  LoaderOptions options = data.options();
  options.rect = true;
  options.augment_enabled = false;
  options.batch_size = 3;
  Loader loader(options);
  Batch batch;
  std::set<std::pair<int, int>> shapes;
  while (loader.next(&batch)) shapes.emplace(batch.height_px, batch.width_px);
  // Half of the pictures are wide, half tall: 0.5 strides of padding on 64 px.
  EXPECT_EQ(shapes, (std::set<std::pair<int, int>>{{64, 96}, {96, 64}}));
}

}  // namespace
}  // namespace yoload
