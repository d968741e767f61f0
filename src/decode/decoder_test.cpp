// SPDX-License-Identifier: Apache-2.0
#include "decode/decoder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "decode/test_pictures.h"

namespace yoload {
namespace {

using namespace decode::test;
using testing::HasSubstr;
using testing::Not;

Result<Decoded> decode(const Bytes& bytes, DecodeOptions options = {}) {
  return Decoder(options).decode(bytes, nullptr);
}

DecodeOptions accepting() {
  DecodeOptions options;
  options.on_corrupt = OnCorrupt::accept;
  return options;
}

void expect_pixels(const Result<Decoded>& decoded, const Rgb& rgb) {
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  const ImageView view = decoded->image.view();
  ASSERT_EQ(view.width_px, rgb.width_px);
  ASSERT_EQ(view.height_px, rgb.height_px);
  ASSERT_EQ(view.channels, 3);
  for (int y = 0; y < view.height_px; ++y) {
    for (int x = 0; x < view.width_px; ++x) {
      for (int c = 0; c < 3; ++c) ASSERT_EQ(view.at(c, y, x), rgb.at(x, y)[c]) << x << "," << y;
    }
  }
}

TEST(Decoder, ReturnsTheExactPixelsOfLosslessFormats) {
  for (const auto& [width, height] : {std::pair{1, 1}, {3, 5}, {64, 16}, {101, 77}}) {
    const Rgb rgb = card(width, height);
    expect_pixels(decode(png(rgb)), rgb);
    expect_pixels(decode(png(rgb, true)), rgb);
    expect_pixels(decode(webp(rgb)), rgb);
    expect_pixels(decode(tiff(rgb)), rgb);
    expect_pixels(decode(bmp(rgb)), rgb);
    expect_pixels(decode(bmp(rgb, true)), rgb);
    expect_pixels(decode(npy("|u1", fmt::format("({}, {}, 3)", height, width), rgb.pixels)), rgb);
  }
}

TEST(Decoder, ReadsAGif) {
  Bytes indices;
  for (int i = 0; i < 40 * 30; ++i) indices.push_back(static_cast<uint8_t>(i * 11 % 128));
  const auto decoded = decode(gif(40, 30, indices));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->warning, "");
  for (int y = 0; y < 30; ++y) {
    for (int x = 0; x < 40; ++x) {
      ASSERT_EQ(decoded->image.view().at(1, y, x), 2 * indices[static_cast<size_t>(y * 40 + x)]);
    }
  }
}

TEST(Decoder, DropsAlphaInsteadOfMultiplyingByIt) {
  const uint8_t pixels[8] = {200, 100, 50, 0, 10, 20, 30, 128};
  const auto decoded = decode(png(2, 1, 8, PNG_COLOR_TYPE_RGBA, pixels, 8));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->image.view().at(0, 0, 0), 200);
  EXPECT_EQ(decoded->image.view().at(2, 0, 1), 30);
}

TEST(Decoder, GivesOnePlaneOfLumaForOneChannel) {
  DecodeOptions gray;
  gray.channels = 1;
  const uint8_t pixels[6] = {255, 0, 0, 10, 200, 30};
  const auto decoded = decode(png(2, 1, 8, PNG_COLOR_TYPE_RGB, pixels, 6), gray);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->image.channels(), 1);
  EXPECT_EQ(decoded->image.view().at(0, 0, 0), 76);
  EXPECT_EQ(decoded->image.view().at(0, 0, 1), 124);
}

TEST(Decoder, ReadsGrayJpegIntoThreeEqualPlanes) {
  const auto decoded = decode(jpeg(card(40, 24), {.gray = true}));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->info.channels, 1);
  const ImageView view = decoded->image.view();
  for (int x = 0; x < 40; ++x) {
    EXPECT_EQ(view.at(0, 7, x), view.at(1, 7, x));
    EXPECT_EQ(view.at(0, 7, x), view.at(2, 7, x));
  }
}

TEST(Decoder, ShrinksAJpegOnlyAsFarAsTheMinimumAllows) {
  const Bytes file = jpeg(card(640, 400));
  Decoder decoder(DecodeOptions{});
  for (const auto& [minimum, width] :
       {std::pair{0, 640}, {640, 640}, {321, 640}, {320, 320}, {160, 160}, {80, 80}, {1, 80}}) {
    const auto decoded = decoder.decode(file, nullptr, minimum);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->image.width_px(), width) << minimum;
    EXPECT_EQ(decoded->info.width_px, 640);
  }
}

// Rows of 16-bit gray that use first..last only.
Bytes deep_png(uint16_t first, uint16_t last) {
  std::vector<uint16_t> samples;
  for (int i = 0; i < 64 * 8; ++i) {
    samples.push_back(static_cast<uint16_t>(first + (last - first) * (i % 64) / 63));
  }
  return png(64, 8, 16, PNG_COLOR_TYPE_GRAY, samples.data(), 128);
}

TEST(SixteenBit, TakesTheHighByteAndReportsANarrowRange) {
  const auto decoded = decode(deep_png(300, 990));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->image.view().at(0, 0, 0), 1);
  EXPECT_EQ(decoded->image.view().at(0, 0, 63), 3);
  EXPECT_THAT(decoded->warning, HasSubstr("300..990"));
  EXPECT_THAT(decoded->warning, HasSubstr("scale_16bit"));
}

TEST(SixteenBit, StaysSilentWhenTheRangeIsUsed) {
  EXPECT_EQ(decode(deep_png(0, 65535))->warning, "");
}

TEST(SixteenBit, StretchesTheUsedRangeOnRequest) {
  DecodeOptions stretch;
  stretch.scale_16bit = true;
  std::vector<uint8_t> tiff_data;
  for (int i = 0; i < 64; ++i) put16(&tiff_data, static_cast<uint32_t>(300 + 690 * i / 63), false);
  for (const Bytes& file :
       {deep_png(300, 990), tiff({{64, 1, 1, 16, tiff_data}}), npy("<u2", "(1, 64)", tiff_data)}) {
    const auto decoded = decode(file, stretch);
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(decoded->image.view().at(0, 0, 0), 0);
    EXPECT_EQ(decoded->image.view().at(0, 0, 63), 255);
    EXPECT_NEAR(decoded->image.view().at(0, 0, 32), 129, 2);
  }
}

TEST(MultiChannel, ReadsTiffPagesAndNpyChannelsAsPlanes) {
  DecodeOptions five;
  five.channels = 5;
  std::vector<TiffPage> pages;
  Bytes interleaved;
  for (uint8_t c = 0; c < 5; ++c)
    pages.push_back({4, 3, 1, 8, Bytes(12, static_cast<uint8_t>(c * 40))});
  for (int i = 0; i < 12; ++i) {
    for (uint8_t c = 0; c < 5; ++c) interleaved.push_back(static_cast<uint8_t>(c * 40));
  }
  for (const Bytes& file : {tiff(pages), npy("|u1", "(3, 4, 5)", interleaved)}) {
    const auto decoded = decode(file, five);
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    ASSERT_EQ(decoded->image.channels(), 5);
    for (int c = 0; c < 5; ++c) EXPECT_EQ(decoded->image.view().at(c, 2, 3), c * 40);
  }
  EXPECT_EQ(decode(jpeg(card(8, 8)), five).status().code(), Code::unsupported);
}

TEST(Limits, NameTheOptionAndNeverSayCorrupt) {
  DecodeOptions options;
  options.limits.max_pixels = 99;
  const auto pixels = decode(png(card(10, 10)), options);
  ASSERT_FALSE(pixels.ok());
  EXPECT_EQ(pixels.status().code(), Code::limit);
  EXPECT_THAT(pixels.status().message(), HasSubstr("max_pixels"));
  EXPECT_THAT(pixels.status().to_string(), Not(HasSubstr("corrupt")));

  options.limits = {};
  options.limits.max_memory_bytes = 1000;
  for (const Bytes& file : {jpeg(card(64, 64)), png(card(64, 64)), webp(card(64, 64)),
                            tiff(card(64, 64)), bmp(card(64, 64))}) {
    const auto memory = decode(file, options);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.status().code(), Code::limit) << memory.status().to_string();
    EXPECT_THAT(memory.status().message(), HasSubstr("max_memory_bytes"));
  }

  options.limits = {};
  options.limits.max_scans = 3;
  const auto scans = decode(jpeg(card(64, 64), {.progressive = true}), options);
  ASSERT_FALSE(scans.ok());
  EXPECT_EQ(scans.status().code(), Code::limit);
  EXPECT_THAT(scans.status().message(), HasSubstr("max_scans"));

  options.limits = {};
  options.limits.max_seconds = 1e-6;
  const auto time = decode(jpeg(card(800, 800), {.progressive = true}), options);
  ASSERT_FALSE(time.ok());
  EXPECT_EQ(time.status().code(), Code::limit);
  EXPECT_THAT(time.status().message(), HasSubstr("max_seconds"));
}

TEST(Limits, RefuseHostileSizesBeforeAllocating) {
  Bytes wide_jpeg = jpeg(card(8, 8));
  for (size_t i = 0; i + 8 < wide_jpeg.size(); ++i) {
    if (wide_jpeg[i] == 0xFF && wide_jpeg[i + 1] == 0xC0) {
      std::fill_n(wide_jpeg.begin() + static_cast<long>(i) + 5, 4, uint8_t{0xFF});
    }
  }
  EXPECT_EQ(decode(wide_jpeg).status().code(), Code::limit);
  Bytes wide_bmp = bmp(card(4, 4));
  for (const int at : {18, 19, 20, 22, 23, 24}) wide_bmp[static_cast<size_t>(at)] = 0xFF;
  EXPECT_EQ(decode(wide_bmp).status().code(), Code::limit);
  EXPECT_EQ(decode(npy("|u1", "(2000000, 2000000)", {})).status().code(), Code::limit);
  EXPECT_EQ(decode(npy("|u1", "(16000, 16000)", {})).status().code(), Code::truncated);
}

TEST(Messages, SayWhatTheFileReallyIs) {
  const auto message = [](const std::string& text) {
    const auto decoded = decode(Bytes(text.begin(), text.end()));
    return decoded.ok() ? std::string() : decoded.status().message();
  };
  EXPECT_THAT(message(""), HasSubstr("empty"));
  EXPECT_THAT(message("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(message("\n<!DOCTYPE html><html>"), HasSubstr("HTML"));
  EXPECT_THAT(message("\x1F\x8B\x08"), HasSubstr("gzip"));
  EXPECT_THAT(message(std::string("\0\5\x16\7", 4)), HasSubstr("AppleDouble"));
  EXPECT_THAT(message(std::string("\0\0\0\x1C", 4) + "ftypheic"), HasSubstr("HEIC"));
  EXPECT_THAT(message(std::string("\0\0\0\x1C", 4) + "ftypavif"), HasSubstr("AVIF"));
  EXPECT_THAT(message("\xFF\x0A"), HasSubstr("JXL"));
  EXPECT_THAT(message("plain text"), HasSubstr("not a picture"));
}

std::string written(const Bytes& bytes, const char* file_name) {
  const std::string path = std::filesystem::path(testing::TempDir()) / file_name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return path;
}

TEST(Probe, FindsTheSizeBehindLargeSegmentsAndNamesThePathOnFailure) {
  Bytes file = with_jpeg_exif(jpeg(card(60, 40)), exif_block(8));
  for (int i = 0; i < 4; ++i) file = with_jpeg_segment(file, 0xE2, Bytes(60000, 0));
  const auto info = probe_file(written(file, "far_header.jpg"), DecodeLimits{});
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info->width_px, 40);
  EXPECT_EQ(info->height_px, 60);
  EXPECT_EQ(info->orientation, 8);
  const auto head = read_info(std::span(file).first(65536), DecodeLimits{});
  ASSERT_FALSE(head.ok());
  EXPECT_EQ(head.status().code(), Code::truncated);

  const auto missing = probe_file("/nonexistent/a.jpg", DecodeLimits{});
  EXPECT_EQ(missing.status().code(), Code::not_found);
  EXPECT_EQ(missing.status().path(), "/nonexistent/a.jpg");
  EXPECT_EQ(probe_file(testing::TempDir(), DecodeLimits{}).status().code(), Code::io);
}

TEST(MemoryEstimate, CoversThePictureAndShrinksWithIt) {
  const auto info = read_info(jpeg(card(640, 400)), DecodeLimits{});
  ASSERT_TRUE(info.ok());
  EXPECT_GE(decode_memory_bytes(*info, 3, 0), Image::bytes_for(640, 400, 3));
  EXPECT_LT(decode_memory_bytes(*info, 3, 160), decode_memory_bytes(*info, 3, 0));
}

struct Sample {
  const char* kind;
  Bytes file;
};

std::vector<Sample> one_of_each() {
  const Rgb rgb = card(24, 18);
  return {{"jpeg", jpeg(rgb)},
          {"jpeg 4:2:0", jpeg(rgb, {.h_sampling = 2, .v_sampling = 2})},
          {"progressive jpeg", jpeg(rgb, {.progressive = true})},
          {"png", png(rgb)},
          {"interlaced png", png(rgb, true)},
          {"webp", webp(rgb)},
          {"webp with exif", webp(rgb, exif_block(6))},
          {"tiff", tiff(rgb)},
          {"bmp", bmp(rgb)},
          {"gif", gif(24, 18, Bytes(24 * 18, 5))},
          {"npy", npy("|u1", "(18, 24, 3)", rgb.pixels)}};
}

TEST(Truncation, IsNeverPassedInSilenceAtAnyByte) {
  for (const Sample& sample : one_of_each()) {
    ASSERT_TRUE(decode(sample.file).ok()) << sample.kind;
    for (size_t bytes = 0; bytes < sample.file.size(); ++bytes) {
      const Bytes cut(sample.file.begin(), sample.file.begin() + static_cast<long>(bytes));
      const auto strict = decode(cut);
      EXPECT_TRUE(!strict.ok() || !strict->warning.empty()) << sample.kind << " cut at " << bytes;
      const auto lenient = decode(cut, accepting());
      if (!strict.ok() && lenient.ok()) {
        EXPECT_TRUE(lenient->damaged) << sample.kind << " cut at " << bytes;
        EXPECT_EQ(lenient->image.width_px(), 24);
      }
    }
  }
}

TEST(Truncation, YieldsTheUpperRowsUnderAccept) {
  const Rgb rgb = card(64, 64);
  for (Bytes file : {jpeg(rgb), png(rgb), bmp(rgb, true)}) {
    const auto whole = decode(file);
    file.resize(file.size() * 3 / 4);
    EXPECT_EQ(decode(file).status().code(), Code::truncated);
    const auto part = decode(file, accepting());
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    EXPECT_TRUE(part->damaged);
    for (int x = 0; x < 64; ++x)
      EXPECT_EQ(part->image.view().at(0, 0, x), whole->image.view().at(0, 0, x));
  }
}

TEST(Damage, AnyByteChangedInAnyFormatNeverCrashes) {
  for (const Sample& sample : one_of_each()) {
    for (size_t i = 0; i < sample.file.size(); ++i) {
      for (const uint8_t flip : {0x01, 0x80, 0xFF}) {
        Bytes changed = sample.file;
        changed[i] ^= flip;
        const auto decoded = decode(changed, accepting());
        if (decoded.ok()) {
          EXPECT_FALSE(decoded->image.empty());
        }
      }
    }
  }
}

TEST(Damage, OnePictureLeavesNothingBehindForTheNext) {
  Decoder decoder(DecodeOptions{});
  const Bytes good = jpeg(card(32, 32));
  Bytes no_tables = good;
  for (size_t i = 0; i + 4 < no_tables.size(); ++i) {
    if (no_tables[i] == 0xFF && no_tables[i + 1] == 0xDB) no_tables[i + 1] = 0xEF;
  }
  ASSERT_TRUE(decoder.decode(good, nullptr).ok());
  EXPECT_FALSE(decoder.decode(no_tables, nullptr).ok());
  EXPECT_TRUE(decoder.decode(good, nullptr).ok());
}

TEST(Decoder, EndsSoonOnceCancelled) {
  const Rgb rgb = card(64, 64);
  std::atomic<bool> cancelled{true};
  DecodeOptions options;
  options.cancelled = &cancelled;
  for (const Bytes& bytes : {png(rgb), png(rgb, true), tiff(rgb), bmp(rgb)}) {
    EXPECT_FALSE(decode(bytes, options).ok());
  }
  cancelled = false;
  expect_pixels(decode(png(rgb), options), rgb);
}

}  // namespace
}  // namespace yoload
