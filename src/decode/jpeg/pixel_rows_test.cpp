// Our pixels against libjpeg-turbo's own, byte for byte. SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/pixel_rows.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "decode/jpeg/test_coefficients.h"

namespace yoload::decode::jpeg {
namespace {

using namespace test;
using Kernels = PixelRows::Kernels;

Rgb decode_by_library(const Bytes& file, J_COLOR_SPACE space = JCS_RGB, int shrink = 1) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, file.data(), file.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = space;
  cinfo.scale_num = 1;
  cinfo.scale_denom = static_cast<unsigned>(shrink);
  jpeg_start_decompress(&cinfo);
  Rgb rgb{static_cast<int>(cinfo.output_width), static_cast<int>(cinfo.output_height), {}};
  const size_t row_bytes = cinfo.output_width * static_cast<size_t>(cinfo.output_components);
  rgb.pixels.resize(row_bytes * cinfo.output_height);
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW row = rgb.pixels.data() + cinfo.output_scanline * row_bytes;
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
  return rgb;
}

/// Interleaved again, for the comparison.
Bytes decode_by_us(PixelRows& rows, const Coefficients& picture, int channels, int shrink = 1) {
  const auto over = [&](int size) { return (size + shrink - 1) / shrink; };
  Image image(nullptr, over(picture.frame.width_px), over(picture.frame.height_px), channels);
  std::fill_n(image.mutable_view().data,
              Image::bytes_for(image.width_px(), image.height_px(), channels), uint8_t{99});
  RowSink sink;
  sink.begin(image.mutable_view(), 1, image.width_px(), image.height_px());
  rows.begin(picture.frame, &sink, shrink);
  for (int y = 0; y < picture.frame.mcus_y; ++y) rows.add_mcu_row(picture.row(y));
  rows.finish();
  EXPECT_EQ(sink.rows_done(), image.height_px());
  Bytes out;
  for (int y = 0; y < image.height_px(); ++y) {
    for (int x = 0; x < image.width_px(); ++x) {
      for (int c = 0; c < channels; ++c) out.push_back(image.view().at(c, y, x));
    }
  }
  return out;
}

size_t first_difference(const Bytes& a, const Bytes& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

void expect_identical(const Bytes& file, int shrink = 1) {
  static PixelRows vector;
  static PixelRows scalar(Kernels::scalar);
  const Coefficients picture = read_coefficients(file);
  const Rgb expected = decode_by_library(file, JCS_RGB, shrink);
  for (PixelRows* rows : {&vector, &scalar}) {
    const Bytes ours = decode_by_us(*rows, picture, 3, shrink);
    ASSERT_EQ(ours.size(), expected.pixels.size());
    const size_t at = first_difference(ours, expected.pixels);
    const auto width = static_cast<size_t>(expected.width_px);
    ASSERT_EQ(at, ours.size()) << (rows == &vector ? "vector" : "scalar") << " at x "
                               << at / 3 % width << " y " << at / 3 / width << " channel "
                               << at % 3;
  }
}

/// Runs the body once for every instruction set that this machine has.
template <class Body>
void for_each_target(const Body& body) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

std::vector<Sampling> all_samplings() {
  constexpr std::array<std::pair<int, int>, 4> kFactors{{{1, 1}, {2, 1}, {1, 2}, {2, 2}}};
  std::vector<Sampling> out;
  for (const auto& y : kFactors) {
    for (const auto& cb : kFactors) {
      for (const auto& cr : kFactors) {
        // ITU-T T.81, B.2.3: at most ten blocks in an MCU.
        const int blocks = y.first * y.second + cb.first * cb.second + cr.first * cr.second;
        if (blocks <= 10) out.push_back({{y, cb, cr}});
      }
    }
  }
  return out;
}

std::string name_of(const Sampling& sampling) {
  std::string out;
  for (const auto& [h, v] : sampling.hv) out += fmt::format(" {}x{}", h, v);
  return out;
}

/// Coefficients as dense or sparse and as small or large as they get; `limit` up to 1023.
class RandomBlocks {
 public:
  RandomBlocks(uint32_t seed, int limit, int table_limit)
      : random_(seed), limit_(limit), table_limit_(table_limit) {}

  Bytes file(int width_px, int height_px, J_COLOR_SPACE space, const Sampling& sampling) {
    return jpeg_of_coefficients(
        width_px, height_px, space, sampling, [&](uint16_t* table) { fill_table(table); },
        [&](int16_t* block) { fill_block(block); });
  }

  void fill_table(uint16_t* table) {
    for (int i = 0; i < 64; ++i) table[i] = static_cast<uint16_t>(between(1, table_limit_));
  }

  void fill_block(int16_t* block) {
    static const std::array<int, 64> kOrder = natural_order();
    constexpr std::array<int, 8> kReaches = {1, 2, 3, 6, 8, 10, 20, 64};
    const int reach = kReaches.at(static_cast<size_t>(between(0, 7)));
    const int density = between(1, 4);
    const int limit = std::max(1, limit_ >> between(0, 10));
    std::fill_n(block, 64, int16_t{0});
    for (int k = 0; k < reach; ++k) {
      const bool only_first_row = density == 4 && kOrder.at(static_cast<size_t>(k)) >= 8;
      if (between(1, density) > 1 || only_first_row) continue;
      const int value =
          between(0, 3) == 0 ? limit * (between(0, 1) * 2 - 1) : between(-limit, limit);
      block[kOrder.at(static_cast<size_t>(k))] = static_cast<int16_t>(value);
    }
  }

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::mt19937 random_;
  int limit_;
  int table_limit_;
};

TEST(PixelRows, EqualLibjpegForEverySamplingAndSmallSize) {
  for (const Sampling& sampling : all_samplings()) {
    RandomBlocks random(1, 60, 8);
    for (int i = 1; i <= 40; ++i) {
      for (const auto& [width, height] : {std::pair{i, 1 + i * 7 % 40}, {1 + i * 11 % 40, i}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << name_of(sampling));
        expect_identical(random.file(width, height, JCS_YCbCr, sampling));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PixelRows, EqualLibjpegForLargerSizesOnEveryInstructionSet) {
  for_each_target([] {
    RandomBlocks random(2, 60, 8);
    for (const Sampling& sampling : all_samplings()) {
      for (const auto& [width, height] : {std::pair{64, 48}, {129, 65}, {333, 77}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << name_of(sampling));
        expect_identical(random.file(width, height, JCS_YCbCr, sampling));
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST(PixelRows, EqualLibjpegForCoefficientsThatNoEncoderWrites) {
  const bool full = std::getenv("YOLOAD_FULL") != nullptr;
  for_each_target([&] {
    for (const int table_limit : {1, 40, 255, 4000, 65535}) {
      for (uint32_t seed = 0; seed < (full ? 200 : 20); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " tables up to " << table_limit);
        RandomBlocks random(seed, 1023, table_limit);
        expect_identical(random.file(160, 96, JCS_YCbCr, {}));
        expect_identical(random.file(96, 160, JCS_YCbCr, {{{{2, 2}, {1, 1}, {1, 1}}}}));
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST(PixelRows, EqualLibjpegForGrayAndRgb) {
  RandomBlocks random(4, 60, 8);
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 9}, {64, 48}, {129, 65}}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    expect_identical(random.file(width, height, JCS_GRAYSCALE, {}));
    expect_identical(random.file(width, height, JCS_RGB, {}));
    expect_identical(random.file(width, height, JCS_RGB, {{{{2, 2}, {1, 2}, {2, 1}}}}));
  }
}

TEST(PixelRows, LumaAloneIsTheFirstComponentAtFullSize) {
  for (const Sampling& sampling : all_samplings()) {
    RandomBlocks random(5, 60, 8);
    const Bytes file = random.file(133, 61, JCS_YCbCr, sampling);
    PixelRows rows;
    EXPECT_EQ(decode_by_us(rows, read_coefficients(file), 1),
              decode_by_library(file, JCS_GRAYSCALE).pixels)
        << name_of(sampling);
  }
}

TEST(PixelRows, RgbBecomesLumaByTheWeightsOfTheSink) {
  RandomBlocks random(6, 60, 8);
  const Bytes file = random.file(45, 31, JCS_RGB, {});
  const Rgb rgb = decode_by_library(file);
  Image image(nullptr, 45, 31, 1);
  RowSink sink;
  sink.begin(image.mutable_view(), 1, 45, 31);
  for (int y = 0; y < 31; ++y) sink.put(y, rgb.at(0, y), Pixels::rgb);
  PixelRows rows;
  const Bytes ours = decode_by_us(rows, read_coefficients(file), 1);
  for (int y = 0; y < 31; ++y) {
    for (int x = 0; x < 45; ++x) {
      ASSERT_EQ(ours[static_cast<size_t>(y * 45 + x)], image.view().at(0, y, x)) << x << " " << y;
    }
  }
}

TEST(PixelRows, FillEveryOrientationLikeInterleavedRows) {
  RandomBlocks random(7, 60, 8);
  for (const auto& factors : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
    const Bytes file = random.file(83, 59, JCS_YCbCr, {{{factors, {1, 1}, {1, 1}}}});
    const Rgb rgb = decode_by_library(file);
    const Coefficients picture = read_coefficients(file);
    PixelRows rows;
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const bool turned = orientation >= 5;
      Image expected(nullptr, turned ? 59 : 83, turned ? 83 : 59, 3);
      Image ours(nullptr, expected.width_px(), expected.height_px(), 3);
      RowSink sink;
      sink.begin(expected.mutable_view(), orientation, 83, 59);
      for (int y = 0; y < 59; ++y) sink.put(y, rgb.at(0, y), Pixels::rgb);
      sink.begin(ours.mutable_view(), orientation, 83, 59);
      rows.begin(picture.frame, &sink);
      for (int y = 0; y < picture.frame.mcus_y; ++y) rows.add_mcu_row(picture.row(y));
      rows.finish();
      for (int c = 0; c < 3; ++c) {
        for (int y = 0; y < ours.height_px(); ++y) {
          ASSERT_TRUE(std::equal(ours.view().row(c, y), ours.view().row(c, y) + ours.width_px(),
                                 expected.view().row(c, y)))
              << "orientation " << orientation << " channel " << c << " row " << y;
        }
      }
    }
  }
}

TEST(PixelRows, FinishCommitsWhatAnEarlyEndLeaves) {
  RandomBlocks random(8, 60, 8);
  const Coefficients picture =
      read_coefficients(random.file(40, 64, JCS_YCbCr, {{{{2, 2}, {1, 1}, {1, 1}}}}));
  Image image(nullptr, 40, 64, 3);
  RowSink sink;
  sink.begin(image.mutable_view(), 1, 40, 64);
  PixelRows rows;
  rows.begin(picture.frame, &sink);
  rows.add_mcu_row(picture.row(0));
  rows.add_mcu_row(picture.row(1));
  EXPECT_EQ(sink.rows_done(), 31);
  rows.finish();
  EXPECT_EQ(sink.rows_done(), 32);
}

TEST(PixelRows, EqualLibjpegForPhotos) {
  const char* shared = std::getenv("YOLOAD_SHARED_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(shared != nullptr ? shared : YOLOAD_SOURCE_DIR "/../shared/data") /
      "coco256" / "images";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is missing";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jpg") continue;
    SCOPED_TRACE(entry.path());
    std::ifstream stream(entry.path(), std::ios::binary);
    const Bytes file{std::istreambuf_iterator<char>(stream), {}};
    expect_identical(file);
    const Rgb rgb = decode_by_library(file);
    for (const int quality : {50, 90}) {
      expect_identical(test::jpeg(rgb, {.h_sampling = 2, .v_sampling = 2, .quality = quality}));
      expect_identical(test::jpeg(rgb, {.h_sampling = 2, .v_sampling = 1, .quality = quality}));
    }
    if (HasFatalFailure()) return;
    if (++files == 40 && std::getenv("YOLOAD_FULL") == nullptr) break;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace yoload::decode::jpeg
