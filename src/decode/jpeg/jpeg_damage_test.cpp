// What counts as damage in a JPEG, and what is only odd.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "decode/decoder.h"
#include "decode/test_pictures.h"

namespace yoload {
namespace {

using namespace decode::test;

Result<Decoded> decode(const Bytes& bytes, OnCorrupt on_corrupt = OnCorrupt::reject) {
  DecodeOptions options;
  options.on_corrupt = on_corrupt;
  return Decoder(options).decode(bytes, nullptr);
}

Bytes without_end_marker(Bytes file) {
  file.resize(file.size() - 2);
  return file;
}

// Offsets of the SOS markers.
std::vector<size_t> scans_of(const Bytes& file) {
  std::vector<size_t> scans;
  for (size_t i = 0; i + 1 < file.size(); ++i) {
    if (file[i] == 0xFF && file[i + 1] == 0xDA) scans.push_back(i);
  }
  return scans;
}

TEST(JpegDamage, AMissingEndMarkerIsAWarningWhenAllPixelsAreThere) {
  for (const bool progressive : {false, true}) {
    const Bytes whole = jpeg(card(50, 40), {.progressive = progressive});
    const auto decoded = decode(without_end_marker(whole));
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_NE(decoded->warning, "");
    EXPECT_FALSE(decoded->damaged);
    const auto expected = decode(whole);
    EXPECT_EQ(decoded->image.view().at(2, 39, 49), expected->image.view().at(2, 39, 49));
  }
}

TEST(JpegDamage, BytesBehindTheEndMarkerDoNotMatter) {
  Bytes file = jpeg(card(50, 40));
  const Bytes second = file;
  file.insert(file.end(), second.begin(), second.end());
  file.resize(file.size() + 65536, 0);
  const auto decoded = decode(file);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->image.width_px(), 50);
}

TEST(JpegDamage, AnAppendedEndMarkerDoesNotHideACut) {
  Bytes file = jpeg(card(200, 200));
  file.resize(file.size() * 7 / 10);
  file.insert(file.end(), {0xFF, 0xD9});
  EXPECT_EQ(decode(file).status().code(), Code::corrupt);
  const auto lenient = decode(file, OnCorrupt::accept);
  ASSERT_TRUE(lenient.ok());
  EXPECT_TRUE(lenient->damaged);
}

TEST(JpegDamage, AProgressiveFileCutBetweenScansIsTruncated) {
  const Bytes whole = jpeg(card(64, 64), {.progressive = true});
  const std::vector<size_t> scans = scans_of(whole);
  ASSERT_GE(scans.size(), 3U);
  for (size_t i = 1; i < scans.size(); ++i) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(scans[i]));
    EXPECT_EQ(decode(cut).status().code(), Code::truncated) << "before scan " << i;
    const auto lenient = decode(cut, OnCorrupt::accept);
    EXPECT_TRUE(lenient.ok() && lenient->damaged);
  }
}

TEST(JpegDamage, AFewStrayBytesBeforeTheEndMarkerAreHarmlessAndManyAreNot) {
  Bytes few = without_end_marker(jpeg(card(50, 40)));
  Bytes many = few;
  few.insert(few.end(), {1, 2, 3, 0xFF, 0xD9});
  EXPECT_TRUE(decode(few).ok());
  many.insert(many.end(), 200, 1);
  many.insert(many.end(), {0xFF, 0xD9});
  EXPECT_EQ(decode(many).status().code(), Code::corrupt);
}

TEST(JpegDamage, KindsThatAreNotDecodedAreNamed) {
  const auto with_frame = [](uint8_t marker, uint8_t bits) {
    Bytes file = jpeg(card(16, 16));
    for (size_t i = 0; i + 4 < file.size(); ++i) {
      if (file[i] == 0xFF && file[i + 1] == 0xC0) {
        file[i + 1] = marker;
        file[i + 4] = bits;
        break;
      }
    }
    return decode(file).status();
  };
  for (const auto& [marker, bits, word] : {std::tuple<int, int, const char*>{0xC9, 8, "arithmetic"},
                                           {0xC3, 8, "lossless"},
                                           {0xC1, 12, "12-bit"}}) {
    const Status status = with_frame(static_cast<uint8_t>(marker), static_cast<uint8_t>(bits));
    EXPECT_EQ(status.code(), Code::unsupported);
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace yoload
