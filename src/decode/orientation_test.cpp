// All eight orientations in every format that carries one.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "decode/byte_source.h"
#include "decode/decoder.h"
#include "decode/exif.h"
#include "decode/test_pictures.h"

namespace yoload {
namespace {

using namespace decode::test;

// Where the upright pixel (x, y) lies in the stored picture, straight from the EXIF standard's
// description of row 0 and column 0. W and H are stored sizes.
std::pair<int, int> stored_position(int orientation, int x, int y, int width, int height) {
  switch (orientation) {
    case 2:
      return {width - 1 - x, y};
    case 3:
      return {width - 1 - x, height - 1 - y};
    case 4:
      return {x, height - 1 - y};
    case 5:
      return {y, x};
    case 6:
      return {y, height - 1 - x};
    case 7:
      return {width - 1 - y, height - 1 - x};
    case 8:
      return {width - 1 - y, x};
    default:
      return {x, y};
  }
}

// `stored` is the picture without orientation as the decoder shows it, so lossy formats compare
// too.
void expect_turned(const Decoded& turned, const Decoded& stored, int orientation) {
  const ImageView view = turned.image.view();
  const ImageView original = stored.image.view();
  const bool swap = orientation >= 5;
  ASSERT_EQ(view.width_px, swap ? original.height_px : original.width_px);
  ASSERT_EQ(view.height_px, swap ? original.width_px : original.height_px);
  EXPECT_EQ(turned.info.width_px, view.width_px);
  EXPECT_EQ(turned.info.height_px, view.height_px);
  EXPECT_EQ(turned.info.orientation, orientation);
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < view.height_px; ++y) {
      for (int x = 0; x < view.width_px; ++x) {
        const auto [sx, sy] =
            stored_position(orientation, x, y, original.width_px, original.height_px);
        ASSERT_EQ(view.at(c, y, x), original.at(c, sy, sx))
            << "orientation " << orientation << " at " << x << "," << y << " channel " << c;
      }
    }
  }
}

void expect_all_orientations(const std::function<Bytes(int orientation)>& encode) {
  Decoder decoder(DecodeOptions{});
  const auto stored = decoder.decode(encode(1), nullptr);
  ASSERT_TRUE(stored.ok()) << stored.status().to_string();
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const auto turned = decoder.decode(encode(orientation), nullptr);
    ASSERT_TRUE(turned.ok()) << turned.status().to_string();
    ASSERT_NO_FATAL_FAILURE(expect_turned(*turned, *stored, orientation));
  }
}

// Sizes around the 16-row blocks and the vector widths.
constexpr std::pair<int, int> kSizes[] = {{37, 21}, {16, 16}, {1, 40}, {67, 1}, {130, 49}};

TEST(Orientation, IsAppliedToJpeg) {
  for (const auto& [width, height] : kSizes) {
    for (const JpegKind kind : {JpegKind{}, JpegKind{.h_sampling = 2, .v_sampling = 2},
                                JpegKind{.progressive = true}, JpegKind{.gray = true}}) {
      const Bytes plain = jpeg(card(width, height), kind);
      expect_all_orientations([&](int o) { return with_jpeg_exif(plain, exif_block(o)); });
    }
  }
}

TEST(Orientation, IsAppliedToPng) {
  for (const auto& [width, height] : kSizes) {
    const Rgb rgb = card(width, height);
    expect_all_orientations([&](int o) { return png(rgb, false, exif_block(o)); });
    expect_all_orientations([&](int o) { return png(rgb, true, exif_block(o)); });
  }
}

TEST(Orientation, IsAppliedToWebp) {
  for (const auto& [width, height] : kSizes) {
    const Rgb rgb = card(width, height);
    expect_all_orientations([&](int o) { return webp(rgb, exif_block(o)); });
  }
}

TEST(Orientation, IsAppliedToTiff) {
  for (const auto& [width, height] : kSizes) {
    const Rgb rgb = card(width, height);
    expect_all_orientations([&](int o) { return tiff(rgb, o); });
  }
}

int exif_of(const Bytes& block) {
  decode::MemorySource source(block);
  return decode::exif_orientation(source, 0, block.size());
}

TEST(Exif, ReadsShortAndLongInBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    for (const bool as_long : {false, true}) {
      for (int o = 1; o <= 8; ++o) EXPECT_EQ(exif_of(exif_block(o, big_endian, as_long)), o);
    }
  }
}

TEST(Exif, TreatsValuesOutOfRangeAsUpright) {
  for (const int value : {0, 9, 65535}) EXPECT_EQ(exif_of(exif_block(value)), 1);
}

TEST(Exif, SurvivesACutAtEveryByteAsUpright) {
  const Bytes whole = exif_block(6);
  for (size_t bytes = 0; bytes < 22; ++bytes) {
    EXPECT_EQ(exif_of(Bytes(whole.begin(), whole.begin() + static_cast<long>(bytes))), 1) << bytes;
  }
}

TEST(Exif, IgnoresADirectoryThatPointsOutsideOrAtItself) {
  for (const uint8_t offset : {0, 4, 200, 255}) {
    Bytes block = exif_block(6);
    block[7] = offset;
    EXPECT_EQ(exif_of(block), 1);
  }
}

TEST(Exif, CountsInTheSecondApp1WhenTheFirstIsXmp) {
  Bytes xmp;
  append(&xmp, "http://ns.adobe.com/xap/1.0/");
  xmp.push_back(0);
  const Bytes file =
      with_jpeg_segment(with_jpeg_exif(jpeg(card(20, 10)), exif_block(6)), 0xE1, xmp);
  const auto info = read_info(file, DecodeLimits{});
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->orientation, 6);
  EXPECT_EQ(info->width_px, 10);
  EXPECT_EQ(info->height_px, 20);
}

}  // namespace
}  // namespace yoload
