// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/marker_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "decode/decoder.h"
#include "decode/exif.h"
#include "decode/test_pictures.h"

namespace yoload::decode {
namespace {

using namespace test;
namespace fs = std::filesystem;

std::string why(const Bytes& file) {
  return std::string(scan_jpeg(file).irregular);
}

// Offset of the first marker 0xFF `code`.
size_t find(const Bytes& file, uint8_t code) {
  for (size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] == 0xFF && file[i + 1] == code) return i;
  }
  return file.size();
}

// A noisy picture: long coded data with stuffed bytes in it.
Rgb noise(int width_px, int height_px) {
  Rgb rgb = card(width_px, height_px);
  std::mt19937 random(1);
  for (uint8_t& value : rgb.pixels) value = static_cast<uint8_t>(value + random() % 64);
  return rgb;
}

TEST(MarkerScan, TellsTheFactsOfEveryKind) {
  for (const auto& [h, v, sampling] : {std::tuple{1, 1, "4:4:4"},
                                       {2, 1, "4:2:2"},
                                       {2, 2, "4:2:0"},
                                       {1, 2, "4:4:0"},
                                       {4, 1, "4:1:1"},
                                       {4, 2, "4:1:0"}}) {
    for (const bool progressive : {false, true}) {
      for (const int restart : {0, 3}) {
        const Bytes file = jpeg(noise(123, 77), {.h_sampling = h,
                                                 .v_sampling = v,
                                                 .progressive = progressive,
                                                 .restart_interval_mcus = restart});
        SCOPED_TRACE(testing::Message() << sampling << progressive << restart);
        const JpegFacts facts = scan_jpeg(file);
        EXPECT_EQ(facts.irregular, "");
        EXPECT_EQ(facts.coding, progressive ? JpegCoding::progressive : JpegCoding::baseline);
        EXPECT_EQ(facts.colour, JpegColour::ycc);
        EXPECT_EQ(facts.width_px, 123);
        EXPECT_EQ(facts.height_px, 77);
        EXPECT_EQ(facts.components, 3);
        EXPECT_EQ(facts.bits, 8);
        EXPECT_EQ(sampling_name(facts), sampling);
        EXPECT_EQ(facts.restart_interval, restart);
        EXPECT_EQ(facts.scans == 1, !progressive);
        EXPECT_EQ(facts.end, file.size());
      }
    }
  }
  const JpegFacts gray = scan_jpeg(jpeg(card(9, 9), {.gray = true}));
  EXPECT_TRUE(gray.regular());
  EXPECT_EQ(gray.colour, JpegColour::gray);
}

TEST(MarkerScan, ReadsTheOrientation) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const JpegFacts facts = scan_jpeg(with_jpeg_exif(jpeg(card(20, 10)), exif_block(orientation)));
    EXPECT_EQ(facts.orientation, orientation);
    EXPECT_TRUE(facts.regular());
    EXPECT_EQ(facts.width_px, 20) << "sizes are as stored";
  }
}

TEST(MarkerScan, EndsAtTheFirstPictureOfSeveral) {
  Bytes file = jpeg(card(20, 10));
  const size_t end = file.size();
  file.insert(file.end(), {1, 2, 3, 0xFF, 0xD8});
  const JpegFacts facts = scan_jpeg(file);
  EXPECT_TRUE(facts.regular());
  EXPECT_EQ(facts.end, end);
}

TEST(MarkerScan, FindsEveryCut) {
  for (const bool progressive : {false, true}) {
    const Bytes whole = jpeg(noise(60, 50), {.progressive = progressive});
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(scan_jpeg(std::span(whole).first(bytes)).regular()) << bytes;
    }
  }
}

TEST(MarkerScan, FindsRestartMarkersThatAreMissingSwappedOrTooMany) {
  const Bytes whole = jpeg(noise(128, 128), {.restart_interval_mcus = 8});
  ASSERT_EQ(why(whole), "");
  Bytes swapped = whole;
  std::swap(swapped[find(whole, 0xD1) + 1], swapped[find(whole, 0xD2) + 1]);
  EXPECT_EQ(why(swapped), "restart marker out of order");
  Bytes missing = whole;
  missing.erase(missing.begin() + static_cast<long>(find(whole, 0xD3)),
                missing.begin() + static_cast<long>(find(whole, 0xD4)));
  EXPECT_EQ(why(missing), "restart marker out of order");
  Bytes ended = whole;  // the last interval is gone
  const auto eoi = static_cast<long>(whole.size() - 2);
  size_t last = 0;
  for (size_t i = 0; i + 1 < whole.size(); ++i) {
    if (whole[i] == 0xFF && whole[i + 1] >= 0xD0 && whole[i + 1] <= 0xD7) last = i;
  }
  ended.erase(ended.begin() + static_cast<long>(last), ended.begin() + eoi);
  EXPECT_EQ(why(ended), "restart marker missing");
  Bytes many = whole;
  many.insert(many.begin() + eoi, {0x12, 0xFF, static_cast<uint8_t>(0xD0 + (last + 1) % 8)});
  EXPECT_EQ(why(many), "too many restart markers");
}

TEST(MarkerScan, FindsWhatTheHeadersLack) {
  const Bytes whole = jpeg(card(40, 40));
  const auto without = [&](uint8_t marker) {
    Bytes file = whole;
    for (size_t at = find(file, marker); at < file.size(); at = find(file, marker)) {
      const long length = file[at + 2] * 256 + file[at + 3] + 2;
      file.erase(file.begin() + static_cast<long>(at),
                 file.begin() + static_cast<long>(at) + length);
    }
    return why(file);
  };
  EXPECT_EQ(without(0xDB), "quantisation table missing");
  EXPECT_EQ(without(0xC4), "Huffman table missing");
  EXPECT_EQ(without(0xC0), "scan before the frame header");
  Bytes tall = whole;
  tall[find(whole, 0xC0) + 5] = 0xF0;  // height 61,440 and more
  EXPECT_EQ(why(tall), "too few bytes for the picture's size");
  Bytes empty = whole;
  empty[find(whole, 0xC0) + 7] = empty[find(whole, 0xC0) + 8] = 0;
  EXPECT_EQ(why(empty), "no size in the frame header");
}

TEST(MarkerScan, FindsAProgressiveFileThatEndsBeforeItsLastScan) {
  Bytes file = jpeg(noise(64, 64), {.progressive = true});
  size_t last = 0;  // the tables of the last scan stand before it
  for (size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] == 0xFF && file[i + 1] == 0xC4) last = i;
  }
  file.resize(last);
  file.insert(file.end(), {0xFF, 0xD9});
  EXPECT_EQ(why(file), "the file ends before its last scan");
}

TEST(MarkerScan, SurvivesAnyBytes) {
  std::mt19937 random(7);
  const Bytes seeds[] = {jpeg(noise(40, 30), {.restart_interval_mcus = 2}),
                         jpeg(noise(40, 30), {.progressive = true}),
                         with_jpeg_exif(jpeg(card(8, 8)), exif_block(6))};
  for (int round = 0; round < 3000; ++round) {
    Bytes file = seeds[round % 3];
    for (int i = 0; i < 3; ++i) file[random() % file.size()] = static_cast<uint8_t>(random());
    if (round % 5 == 0) file.resize(random() % file.size());
    const Bytes exact(file);  // no spare bytes behind it, for the address sanitizer
    const JpegFacts facts = scan_jpeg(exact);
    EXPECT_LE(facts.end, exact.size());
    EXPECT_EQ(facts.regular() && facts.end == 0, false);
  }
}

fs::path shared_data() {
  const char* shared = std::getenv("YOLOAD_SHARED_DATA");
  return shared != nullptr ? shared : YOLOAD_SOURCE_DIR "/../shared/data";
}

Bytes read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes{std::istreambuf_iterator<char>(stream), {}};
}

TEST(MarkerScan, FindsPhotosRegular) {
  const fs::path folder = shared_data() / "coco256" / "images";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is missing";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".jpg") continue;
    const Bytes file = read(entry.path());
    EXPECT_EQ(why(file), "") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0);
}

// Files of the hard set that are damaged and whose structure is whole all the same: nothing but a
// full decode finds them (docs/gpu-decode.md).
const std::set<std::string> kSilent = {
    "jpeg-damaged/bad_exif_corrupt_pillow.jpg", "jpeg-damaged/bitflips.jpg",
    "jpeg-damaged/height_doubled_in_sof.jpg",   "jpeg-damaged/trunc_70_with_eoi.jpg",
    "jpeg-damaged/width_changed_in_sof.jpg",
};

// Whole files that the scan sends to the CPU, with its reason.
const std::map<std::string, std::string> kRefused = {
    {"jpeg-process/multiple_ff_before_eoi.jpg", "fill bytes"},
};

TEST(MarkerScan, JudgesTheHardImageSet) {
  const fs::path root = shared_data() / "torture-images";
  std::ifstream manifest(root / "MANIFEST.tsv");
  if (!manifest) GTEST_SKIP() << root << " is missing";
  std::set<std::string> silent;
  std::map<std::string, std::string> refused;
  std::string line;
  std::getline(manifest, line);
  while (std::getline(manifest, line)) {
    std::istringstream fields(line);
    std::string file, category, verdict;
    std::getline(fields, file, '\t');
    std::getline(fields, category, '\t');
    std::getline(fields, verdict, '\t');
    const Bytes bytes = read(root / file);
    if (bytes.size() < 3 || bytes[0] != 0xFF || bytes[1] != 0xD8) continue;
    const JpegFacts facts = scan_jpeg(bytes);
    if (facts.regular() && (verdict == "flag_corrupt" || verdict == "reject")) silent.insert(file);
    if (!facts.regular() && verdict == "decode") refused[file] = facts.irregular;
    if (!facts.regular()) continue;
    // What is regular is also what the CPU decoder sees in it.
    if (const auto info = read_info(bytes, DecodeLimits{}); info.ok()) {
      EXPECT_EQ(info->orientation, facts.orientation) << file;
      const bool swapped = swaps_axes(facts.orientation);
      EXPECT_EQ(swapped ? info->height_px : info->width_px, facts.width_px) << file;
      EXPECT_EQ(info->channels, facts.components) << file;
    }
  }
  EXPECT_EQ(silent, kSilent);
  EXPECT_EQ(refused, kRefused);
}

}  // namespace
}  // namespace yoload::decode
