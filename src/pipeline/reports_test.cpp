// What people ran into with other loaders, as kinds of data that the whole loader has to get right.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "core/dataset_index.h"
#include "core/machine.h"
#include "pipeline/test_data.h"
#include "yoload/loader.h"

namespace yoload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using yoload::testing::Pixel;
using yoload::testing::TestData;
using yoload::testing::write_bmp;
using yoload::testing::write_noise;

/// Only geometry is random.
AugmentOptions geometry_only() {
  AugmentOptions augment;
  augment.hsv_h = augment.hsv_s = augment.hsv_v = augment.fliplr = 0;
  augment.blur = augment.median_blur = augment.to_gray = augment.clahe = 0;
  return augment;
}

// Four discs of radius 6, one colour a keypoint.
constexpr std::array<Pixel, 4> kDiscs = {Pixel{230, 20, 20}, Pixel{20, 230, 20}, Pixel{20, 20, 230},
                                         Pixel{230, 230, 20}};

/// Plates of `width` x `height` with discs near their corners, and pose labels.
void write_plates(const TestData& data, int count, int width, int height) {
  std::ofstream(data.yaml())
      << "train: images\nval: images\nnames: [plate]\nkpt_shape: [4, 3]\nflip_idx: [1, 0, 3, 2]\n";
  const std::array<std::array<int, 2>, 4> centres = {
      {{20, 18}, {width - 20, 18}, {20, height - 18}, {width - 20, height - 18}}};
  for (int i = 0; i < count; ++i) {
    write_bmp(data.image(i), width, height, [&](int x, int y) {
      for (size_t k = 0; k < 4; ++k) {
        const int dx = x - centres[k][0], dy = y - centres[k][1];
        if (dx * dx + dy * dy <= 36) return kDiscs[k];
      }
      return Pixel{90, 90, 90};
    });
    std::string label = data.image(i);
    label.replace(label.rfind("/images/"), 8, "/labels/");
    label.replace(label.size() - 3, 3, "txt");
    std::ofstream file(label);
    file << "0 0.5 0.5 0.9 0.9";
    for (const auto& [x, y] : centres) {
      file << " " << static_cast<double>(x) / width << " " << static_cast<double>(y) / height
           << " 2";
    }
    file << "\n";
  }
}

class PoseMosaic : public ::testing::TestWithParam<float> {};

TEST_P(PoseMosaic, EveryVisibleKeypointLiesOnItsOwnColour) {  // R03
  const TestData data("pose" + std::to_string(GetParam()), 12);
  write_plates(data, 12, 240, 180);
  LoaderOptions options = data.options();
  options.imgsz = 320;
  options.augment = geometry_only();
  options.augment.fliplr = GetParam();
  Loader loader(options);
  int visible = 0, hidden = 0;
  Batch batch;
  for (int epoch = 0; epoch < 5; ++epoch) {
    while (loader.next(&batch)) {
      const size_t plane = 320 * 320;
      for (size_t object = 0; object < batch.cls.size(); ++object) {
        const auto sample = static_cast<size_t>(batch.batch_idx[object]);
        for (size_t k = 0; k < 4; ++k) {
          const float* point = &batch.keypoints[(object * 4 + k) * 3];
          if (point[2] == 0) {
            ++hidden;
            continue;
          }
          ++visible;
          const int x = std::clamp(static_cast<int>(std::lround(point[0] * 320)), 0, 319);
          const int y = std::clamp(static_cast<int>(std::lround(point[1] * 320)), 0, 319);
          const uint8_t* at =
              batch.img.get() + sample * 3 * plane + static_cast<size_t>(y * 320 + x);
          // flip_idx is its own inverse: a mirrored plate has each keypoint on its neighbour's
          // colour.
          const size_t colour = GetParam() > 0.5f ? k ^ 1 : k;
          for (size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(at[c * plane], kDiscs[colour][c], 60) << "keypoint " << k;
        }
      }
    }
  }
  EXPECT_GT(visible, 100);
  EXPECT_GT(hidden, 20) << "mosaics cut some plates";
}

INSTANTIATE_TEST_SUITE_P(Fliplr, PoseMosaic, ::testing::Values(0.0f, 1.0f));

TEST(SegmentMasks, HaveAsManyNumbersAsRowsAtEveryRatio) {  // R04
  const TestData data("pits", 1);
  write_bmp(data.image(0), 640, 640, [](int, int) { return Pixel{120, 120, 120}; });
  std::string label = data.image(0);
  label.replace(label.rfind("/images/"), 8, "/labels/");
  label.replace(label.size() - 3, 3, "txt");
  {
    std::ofstream file(label);
    for (int i = 0; i < 36; ++i) {
      const double side = std::array{1, 2, 3, 4, 6, 8}[static_cast<size_t>(i / 6)];
      const double x = 21 + 100 * (i % 6), y = 23 + 100 * (i / 6);
      const auto n = [](double v) { return v / 640; };
      file << "0 " << n(x) << " " << n(y) << " " << n(x + side) << " " << n(y) << " " << n(x + side)
           << " " << n(y + side) << " " << n(x) << " " << n(y + side) << "\n";
    }
  }
  for (const int ratio : {1, 2, 4}) {
    LoaderOptions options = data.options();
    options.task = "segment";
    options.imgsz = 640;
    options.augment_enabled = false;
    options.mask_ratio = ratio;
    Loader loader(options);
    Batch batch;
    ASSERT_TRUE(loader.next(&batch));
    std::set<int32_t> numbers(batch.masks.begin(), batch.masks.end());
    numbers.erase(0);
    EXPECT_EQ(numbers.size(), batch.cls.size()) << "ratio " << ratio;
    EXPECT_EQ(batch.mask_width_px, 640 / ratio);
    EXPECT_GT(batch.cls.size(), 10u);
    EXPECT_EQ(batch.cls.size() + loader.report().dropped_empty_mask, 36u)
        << "what vanishes is counted";
  }
}

TEST(OneChannel, PixelAugmentationsAreAppliedAndIdleOnesNamedOnce) {  // R05
  const TestData data("gray", 8);
  std::ofstream(data.yaml()) << "train: images\nval: images\nchannels: 1\nnames: [a, b, c]\n";
  LoaderOptions options = data.options();
  options.batch_size = 8;
  options.augment = geometry_only();
  const auto pixels = [](const LoaderOptions& wanted) {
    Loader loader(wanted);
    Batch batch;
    EXPECT_TRUE(loader.next(&batch));
    EXPECT_THAT((std::array{batch.size, batch.channels, batch.height_px, batch.width_px}),
                ElementsAre(8, 1, 64, 64));
    return std::vector<uint8_t>(batch.img.get(), batch.img.get() + batch.img_bytes());
  };
  const auto plain = pixels(options);
  for (float AugmentOptions::*filter :
       {&AugmentOptions::blur, &AugmentOptions::median_blur, &AugmentOptions::clahe}) {
    LoaderOptions filtered = options;
    filtered.augment.*filter = 1;
    const auto changed = pixels(filtered);
    double difference = 0;
    for (size_t i = 0; i < plain.size(); ++i) difference += std::abs(plain[i] - changed[i]);
    EXPECT_GT(difference / static_cast<double>(plain.size()), 1);
  }
  EXPECT_TRUE(Loader(options).warnings().empty());
  options.augment.hsv_h = 0.015f;
  EXPECT_THAT(Loader(options).warnings(), ElementsAre(HasSubstr("hsv_h need")));
}

TEST(ManyChannels, ArraysBecomeBatchesOfTheirChannels) {
  const TestData data("arrays", 0);
  constexpr int kChannels = 5;
  std::ofstream(data.yaml()) << "train: images\nval: images\nchannels: 5\nnames: [a]\n";
  for (int i = 0; i < 4; ++i) {
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (40, 64, 5), }";
    header.resize(117, ' ');
    header += '\n';
    std::string file =
        std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
    for (int pixel = 0; pixel < 40 * 64; ++pixel) {
      for (int c = 0; c < kChannels; ++c) file += static_cast<char>(30 + 40 * c);
    }
    std::ofstream(data.path("images/x" + std::to_string(i) + ".npy"), std::ios::binary) << file;
  }
  LoaderOptions options = data.options();
  options.augment_enabled = false;
  Loader loader(options);
  Batch batch;
  ASSERT_TRUE(loader.next(&batch));
  ASSERT_THAT((std::array{batch.size, batch.channels, batch.height_px, batch.width_px}),
              ElementsAre(4, 5, 64, 64));
  for (int c = 0; c < kChannels; ++c)
    EXPECT_EQ(batch.img.get()[c * 64 * 64 + 32 * 64 + 32], 30 + 40 * c);
}

TEST(OddSizes, StackInEveryMixOfAugmentations) {  // S01
  const TestData data("sizes", 0);
  const std::vector<std::pair<int, int>> sizes = {{33, 700},  {1500, 40}, {64, 64},
                                                  {641, 639}, {17, 23},   {1000, 333},
                                                  {12, 12},   {639, 10},  {96, 2000}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    write_noise(data.image(static_cast<int>(i)), sizes[i].first, sizes[i].second,
                static_cast<int>(i));
  }
  for (const int tiles : {4, 9}) {
    LoaderOptions options = data.options();
    options.imgsz = 96;
    options.batch_size = 3;
    options.augment.mosaic = options.augment.mixup = options.augment.cutmix = 0.5f;
    options.augment.mosaic_tiles = tiles;
    options.augment.degrees = 5;
    Loader loader(options);
    for (int epoch = 0; epoch < 20; ++epoch) {
      uint64_t images = 0;
      Batch batch;
      while (loader.next(&batch)) {
        EXPECT_THAT((std::array{batch.channels, batch.height_px, batch.width_px}),
                    ElementsAre(3, 96, 96));
        images += static_cast<uint64_t>(batch.size);
      }
      EXPECT_EQ(images, sizes.size());
    }
    EXPECT_TRUE(loader.ledger().empty());
  }
}

class CopyPaste : public ::testing::TestWithParam<CopyPasteMode> {};

TEST_P(CopyPaste, PastedObjectsLieWhereTheirLabelsSay) {
  // Each picture has one square; its class is its colour.
  const TestData data("paste" + std::to_string(static_cast<int>(GetParam())), 12, 128, 128);
  const std::array<Pixel, 3> colours = {Pixel{220, 30, 30}, Pixel{30, 220, 30}, Pixel{30, 30, 220}};
  for (int i = 0; i < 12; ++i) {
    const int x0 = 8 + 9 * (i % 4), y0 = 10 + 30 * (i / 4);
    write_bmp(data.image(i), 128, 128, [&](int x, int y) {
      return x >= x0 && x < x0 + 24 && y >= y0 && y < y0 + 24 ? colours[static_cast<size_t>(i % 3)]
                                                              : Pixel{99, 99, 99};
    });
    std::string label = data.image(i);
    label.replace(label.rfind("/images/"), 8, "/labels/");
    label.replace(label.size() - 3, 3, "txt");
    std::ofstream file(label);
    file << i % 3;
    for (const auto& [x, y] :
         {std::pair{x0, y0}, {x0 + 24, y0}, {x0 + 24, y0 + 24}, {x0, y0 + 24}}) {
      file << " " << x / 128.0 << " " << y / 128.0;
    }
    file << "\n";
  }
  LoaderOptions options = data.options();
  options.task = "segment";
  options.imgsz = 128;
  options.augment = geometry_only();
  options.augment.mosaic = 0;
  options.augment.scale = 0.2f;
  options.augment.fliplr = 0.5f;
  options.augment.copy_paste = 1;
  options.augment.copy_paste_mode = GetParam();
  Loader loader(options);
  uint64_t objects = 0;
  Batch batch;
  for (int epoch = 0; epoch < 4; ++epoch) {
    while (loader.next(&batch)) {
      for (size_t row = 0; row < batch.cls.size(); ++row, ++objects) {
        const auto sample = static_cast<size_t>(batch.batch_idx[row]);
        const auto x = static_cast<size_t>(batch.bboxes[4 * row] * 128),
                   y = static_cast<size_t>(batch.bboxes[4 * row + 1] * 128);
        const size_t plane = 128 * 128;
        for (size_t c = 0; c < 3; ++c) {
          EXPECT_NEAR(batch.img.get()[(sample * 3 + c) * plane + y * 128 + x],
                      colours[static_cast<size_t>(batch.cls[row])][c], 3);
        }
      }
    }
  }
  EXPECT_GT(objects, 4u * 12 + 10) << "some objects were pasted";
}

INSTANTIATE_TEST_SUITE_P(Modes, CopyPaste,
                         ::testing::Values(CopyPasteMode::flip, CopyPasteMode::mixup));

/// A tree with one folder per colour; pictures are that colour all over.
void write_class_tree(const TestData& data) {
  const std::array<std::pair<const char*, Pixel>, 3> classes = {
      {{"blue", {20, 20, 220}}, {"green", {20, 220, 20}}, {"red", {220, 20, 20}}}};
  for (const char* split : {"train", "val"}) {
    for (const auto& [name, colour] : classes) {
      const std::string folder = data.path(std::string("tree/") + split + "/" + name);
      std::filesystem::create_directories(folder);
      for (int i = 0; i < 5; ++i) {
        write_bmp(folder + "/" + std::to_string(i) + ".bmp", 90 + 10 * i, 60 + 15 * i,
                  [&, fill = colour](int, int) { return fill; });
      }
    }
  }
}

TEST(Classification, CropsShowNothingButThePictureOfTheClass) {
  const TestData data("classes", 0);
  write_class_tree(data);
  LoaderOptions options = data.options();
  options.data = data.path("tree");
  options.task = "classify";
  options.augment = geometry_only();
  options.augment.fliplr = options.augment.flipud = 0.5f;
  options.augment.erasing = 0;
  options.augment.auto_augment.clear();
  for (const bool train : {true, false}) {
    options.split = train ? "train" : "val";
    options.augment_enabled = train;
    Loader loader(options);
    EXPECT_TRUE(loader.warnings().empty());
    EXPECT_THAT(loader.index().names, ElementsAre("blue", "green", "red"));
    Batch batch;
    while (loader.next(&batch)) {
      ASSERT_EQ(batch.cls.size(), static_cast<size_t>(batch.size));
      for (size_t sample = 0; sample < batch.cls.size(); ++sample) {
        for (size_t c = 0; c < 3; ++c) {
          const uint8_t expected = c == 2 - static_cast<size_t>(batch.cls[sample]) ? 220 : 20;
          const uint8_t* plane = batch.img.get() + (sample * 3 + c) * 64 * 64;
          EXPECT_TRUE(std::all_of(plane, plane + 64 * 64,
                                  [&](uint8_t level) { return level == expected; }));
        }
      }
    }
  }
}

TEST(Classification, ErasesABlackRectangle) {
  const TestData data("erase", 0);
  write_class_tree(data);
  LoaderOptions options = data.options();
  options.data = data.path("tree");
  options.task = "classify";
  options.augment = geometry_only();
  options.augment.erasing = 1;
  Loader loader(options);
  Batch batch;
  int erased = 0;
  while (loader.next(&batch)) {
    for (int sample = 0; sample < batch.size; ++sample) {
      const uint8_t* plane = batch.img.get() + static_cast<size_t>(sample) * 3 * 64 * 64;
      const auto black = std::count(plane, plane + 64 * 64, uint8_t{0});
      EXPECT_LE(black, 64 * 64 * 0.36);
      erased += black >= 64 * 64 * 0.015;
    }
  }
  EXPECT_EQ(erased, 15);
}

TEST(BreakAndIterateAgain, LeavesNoThreadAndEqualsAFreshLoader) {  // R09
  const TestData data("again", 24);
  const auto digest = [](Loader* loader) {
    uint64_t sum = 0;
    Batch batch;
    while (loader->next(&batch)) {
      for (size_t i = 0; i < batch.img_bytes(); ++i) sum = sum * 31 + batch.img.get()[i];
    }
    return sum;
  };
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  Loader fresh(data.options());
  const uint64_t expected = digest(&fresh);
  Loader loader(data.options());
  const auto before = threads();
  for (int i = 0; i < 50; ++i) {
    loader.set_epoch(0);
    Batch batch;
    ASSERT_TRUE(loader.next(&batch));  // and break
  }
  loader.set_epoch(0);
  EXPECT_EQ(digest(&loader), expected);
  EXPECT_EQ(threads(), before);
}

TEST(TwoLoaders, WorkAtTheSameTime) {  // R09
  const TestData data("two", 24);
  Loader first(data.options()), second(data.options());
  Batch a, b;
  while (first.next(&a)) {
    ASSERT_TRUE(second.next(&b));
    ASSERT_EQ(a.img_bytes(), b.img_bytes());
    EXPECT_TRUE(std::equal(a.img.get(), a.img.get() + a.img_bytes(), b.img.get()));
  }
}

TEST(RepeatedListLines, OversampleAClass) {  // S07
  const TestData data("repeat", 2);
  {
    std::ofstream list(data.path("train.txt"));
    for (int i = 0; i < 5; ++i) list << "./images/p00000.bmp\n";
    list << "./images/p00001.bmp\n";
  }
  std::ofstream(data.yaml()) << "train: train.txt\nval: images\nnames: [a, b, c]\n";
  Loader loader(data.options());
  EXPECT_EQ(loader.images_per_epoch(), 6u);
  int first = 0;
  Batch batch;
  while (loader.next(&batch)) {
    for (const SampleInfo& sample : batch.samples)
      first += loader.index().path(sample.record).ends_with("p00000.bmp");
  }
  EXPECT_EQ(first, 5);
}

TEST(HugePicture, IsUsedWithinItsMemory) {  // R07
  const char* shared = std::getenv("YOLOAD_SHARED_DATA");
  const std::string folder = shared != nullptr
                                 ? std::string(shared) + "/reports/R07"
                                 : std::filesystem::path(YOLOAD_SOURCE_DIR).parent_path().string() +
                                       "/shared/data/reports/R07";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there is no " << folder;
  const TestData data("huge", 0);
  LoaderOptions options = data.options();
  options.data = folder + "/data.yaml";
  options.memory_budget_bytes = uint64_t{1} << 30;
  options.epochs = 1;
  Loader loader(options);
  Batch batch;
  uint64_t images = 0;
  while (loader.next(&batch)) images += static_cast<uint64_t>(batch.size);
  EXPECT_EQ(images, 2u);
  EXPECT_TRUE(loader.ledger().empty());
  EXPECT_LE(loader.report().memory_peak_bytes, uint64_t{1} << 30);
}

}  // namespace
}  // namespace yoload
