// Our own JPEG decoder against libjpeg-turbo, both behind Decoder: whatever the file, the verdict,
// the words and every pixel are the same. SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/own_jpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "decode/decoder.h"
#include "decode/jpeg/random_jpeg.h"
#include "decode/test_pictures.h"

namespace yoload {
namespace {

using namespace decode::test;

DecodeOptions options_for(JpegDecode jpeg, int channels = 3) {
  DecodeOptions options;
  options.jpeg = jpeg;
  options.channels = channels;
  options.limits.max_seconds = 0;  // no verdict may depend on the clock
  return options;
}

void expect_equal(const Result<Decoded>& ours, const Result<Decoded>& library) {
  ASSERT_EQ(ours.ok(), library.ok()) << (ours.ok() ? library.status() : ours.status()).to_string();
  if (!ours.ok()) {
    EXPECT_EQ(ours.status().code(), library.status().code());
    EXPECT_EQ(ours.status().message(), library.status().message());
    return;
  }
  EXPECT_EQ(ours->damaged, library->damaged);
  EXPECT_EQ(ours->warning, library->warning);
  EXPECT_FALSE(library->own_jpeg);
  const ImageView a = ours->image.view(), b = library->image.view();
  ASSERT_EQ(a.width_px, b.width_px);
  ASSERT_EQ(a.height_px, b.height_px);
  ASSERT_EQ(a.channels, b.channels);
  for (int c = 0; c < a.channels; ++c) {
    for (int y = 0; y < a.height_px; ++y) {
      ASSERT_TRUE(std::equal(a.row(c, y), a.row(c, y) + a.width_px, b.row(c, y)))
          << "channel " << c << ", row " << y << " of " << a.width_px << " x " << a.height_px;
    }
  }
}

/// A decoder of each kind, with the same options.
class Pair {
 public:
  explicit Pair(DecodeOptions options = options_for(JpegDecode::automatic))
      : ours_(with(options, JpegDecode::automatic)),
        library_(with(options, JpegDecode::libjpeg_turbo)) {}

  /// Compares; says whether our own decoder did it.
  bool compare(const Bytes& file, int min_long_side_px = 0) {
    const auto ours = ours_.decode(file, nullptr, min_long_side_px);
    expect_equal(ours, library_.decode(file, nullptr, min_long_side_px));
    return ours.ok() && ours->own_jpeg;
  }

 private:
  static DecodeOptions with(DecodeOptions options, JpegDecode jpeg) {
    options.jpeg = jpeg;
    return options;
  }
  Decoder ours_, library_;
};

uint64_t random_files(uint64_t usual) {
  return std::getenv("YOLOAD_FULL") != nullptr ? 20000 : usual;
}

std::vector<std::filesystem::path> shared_jpegs() {
  const char* root = std::getenv("YOLOAD_SHARED_DATA");
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = root != nullptr ? root : YOLOAD_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string suffix = entry.path().extension();
    if (entry.is_regular_file() && (suffix == ".jpg" || suffix == ".jpeg" || suffix == ".JPG")) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Bytes read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(OwnJpeg, DecodesRandomFilesLikeLibjpegTurbo) {
  Pair colour, gray(options_for(JpegDecode::automatic, 1));
  uint64_t own = 0;
  const uint64_t count = random_files(2000);
  for (uint64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    own += colour.compare(random_jpeg(seed)) ? 1 : 0;
    if (seed % 8 == 0) gray.compare(random_jpeg(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
  // The generator makes what this decoder is for.
  EXPECT_GT(own, count * 95 / 100);
}

TEST(OwnJpeg, ShrinksRandomFilesLikeLibjpegTurbo) {
  Pair pair;
  for (uint64_t seed = 0; seed < random_files(1000); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Bytes file = random_jpeg(seed);
    for (const int side : {1, 20, 60}) pair.compare(file, side);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(OwnJpeg, TurnsPicturesUpright) {
  Pair pair;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    for (const auto& [width, height] : {std::pair{61, 45}, {16, 64}, {200, 3}}) {
      const Bytes file = with_jpeg_exif(
          jpeg(card(width, height), {.h_sampling = 2, .v_sampling = 2}), exif_block(orientation));
      EXPECT_TRUE(pair.compare(file));
    }
  }
}

TEST(OwnJpeg, GivesDamagedFilesTheirUsualVerdict) {
  std::mt19937_64 random(5);
  Pair reject;
  DecodeOptions lenient = options_for(JpegDecode::automatic);
  lenient.on_corrupt = OnCorrupt::accept;
  Pair accept(lenient);
  for (uint64_t seed = 0; seed < random_files(1500); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Bytes file = random_jpeg(seed);
    switch (random() % 4) {
      case 0:
        file.resize(1 + random() % file.size());
        break;
      case 1:
        for (uint64_t i = 0; i <= random() % 4; ++i)
          file[random() % file.size()] ^= 1 << random() % 8;
        break;
      case 2:
        file.erase(file.begin() + static_cast<long>(random() % file.size()));
        break;
      default:
        file.insert(file.begin() + static_cast<long>(random() % file.size()),
                    random() % 2 == 0 ? uint8_t{0xFF} : static_cast<uint8_t>(random()));
    }
    reject.compare(file);
    accept.compare(file);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(OwnJpeg, AgreesOnEveryFileOfTheSharedData) {
  const auto paths = shared_jpegs();
  if (paths.empty()) GTEST_SKIP() << "no shared data";
  DecodeOptions lenient = options_for(JpegDecode::automatic);
  lenient.on_corrupt = OnCorrupt::accept;
  Pair reject, accept(lenient);
  size_t own = 0;
  for (const auto& path : paths) {
    SCOPED_TRACE(path.string());
    const Bytes file = read_all(path);
    own += reject.compare(file) ? 1 : 0;
    accept.compare(file);
    reject.compare(file, 320);
  }
  EXPECT_GT(own, paths.size() / 2);
}

TEST(OwnJpeg, ManyAtOnceAreEachAsAlone) {
  std::vector<Bytes> files;
  for (uint64_t seed = 0; seed < 60; ++seed) files.push_back(random_jpeg(seed));
  files[7].resize(files[7].size() / 2);
  files[8] = {};
  files[21] = png(card(30, 20));
  files[22] = jpeg(card(90, 70), {.progressive = true});
  files[23] = {'n', 'o', 'n', 'e'};
  Decoder many(options_for(JpegDecode::automatic)), alone(options_for(JpegDecode::libjpeg_turbo));
  for (const size_t group : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, files.size()}) {
    std::vector<int> ended(files.size());
    for (size_t first = 0; first < files.size(); first += group) {
      std::vector<DecodeRequest> requests;
      for (size_t i = first; i < std::min(files.size(), first + group); ++i) {
        requests.push_back({files[i]});
      }
      many.decode_many(requests, nullptr, 0, [&](size_t i, Result<Decoded> decoded) {
        SCOPED_TRACE(testing::Message() << "file " << first + i << " in groups of " << group);
        ++ended[first + i];
        expect_equal(decoded, alone.decode(files[first + i], nullptr));
      });
    }
    EXPECT_EQ(ended, std::vector<int>(files.size(), 1));
  }
}

TEST(OwnJpeg, ACallbackThatThrowsLeavesAUsableDecoder) {
  Decoder decoder(options_for(JpegDecode::automatic));
  const Bytes small = jpeg(card(20, 20)), large = jpeg(card(300, 300));
  const std::vector<DecodeRequest> requests = {{small}, {large}, {small}};
  EXPECT_THROW(decoder.decode_many(requests, nullptr, 0,
                                   [](size_t, const Result<Decoded>&) { throw std::bad_alloc(); }),
               std::bad_alloc);
  Decoder library(options_for(JpegDecode::libjpeg_turbo));
  expect_equal(decoder.decode(large, nullptr), library.decode(large, nullptr));
}

TEST(OwnJpeg, MemoryLimitsRefuseTheSameFiles) {
  const Bytes file = jpeg(card(400, 300), {.h_sampling = 2, .v_sampling = 2});
  for (uint64_t bytes = 1 << 16; bytes < 1 << 21; bytes += 1 << 14) {
    DecodeOptions options = options_for(JpegDecode::automatic);
    options.limits.max_memory_bytes = bytes;
    Pair(options).compare(file);
  }
}

}  // namespace
}  // namespace yoload
