// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>

#include "decode/decoder.h"
#include "decode/test_pictures.h"
#include "yoload/jpeg.h"

namespace yoload {
namespace {

using namespace decode::test;

/// H,W,C from Decoder's planes.
Bytes expected_pixels(const Bytes& file, int channels) {
  DecodeOptions options;
  options.channels = channels;
  const auto decoded = Decoder(options).decode(file, nullptr);
  EXPECT_TRUE(decoded.ok());
  const ImageView view = decoded->image.view();
  Bytes out;
  for (int y = 0; y < view.height_px; ++y) {
    for (int x = 0; x < view.width_px; ++x) {
      for (int c = 0; c < channels; ++c) out.push_back(view.at(c, y, x));
    }
  }
  return out;
}

TEST(PictureDecoder, WritesBothLayoutsOfEveryOrientationAndNothingBehindThem) {
  for (const int channels : {1, 3}) {
    PictureDecoder decoder({.channels = channels});
    for (int orientation = 1; orientation <= 8; ++orientation) {
      for (const int width : {1, 15, 16, 61, 130}) {
        SCOPED_TRACE(testing::Message() << orientation << ", width " << width);
        const Bytes file = with_jpeg_exif(jpeg(card(width, 40)), exif_block(orientation));
        const PictureInfo info = decoder.info(file);
        const size_t pixels = static_cast<size_t>(info.width_px * info.height_px);
        const size_t bytes = pixels * static_cast<size_t>(channels);
        const Bytes expected = expected_pixels(file, channels);
        for (const PixelLayout layout : {PixelLayout::planar, PixelLayout::interleaved}) {
          Bytes out(bytes + 64, 77);
          const PictureInfo done = decoder.decode(file, {out.data(), bytes, layout});
          EXPECT_EQ(done.width_px, info.width_px);
          EXPECT_EQ(done.height_px, info.height_px);
          for (size_t i = 0; i < bytes; ++i) {
            const size_t pixel = i / static_cast<size_t>(channels);
            const size_t channel = i % static_cast<size_t>(channels);
            const size_t place = layout == PixelLayout::planar ? channel * pixels + pixel : i;
            ASSERT_EQ(out[place], expected[i]) << i;
          }
          EXPECT_EQ(Bytes(out.begin() + static_cast<long>(bytes), out.end()), Bytes(64, 77));
        }
      }
    }
  }
}

TEST(PictureDecoder, DecodesOtherFormatsIntoTheTargetToo) {
  const Bytes file = png(card(33, 21));
  Bytes out(33 * 21 * 3);
  PictureDecoder decoder;
  EXPECT_FALSE(decoder.decode(file, {out.data(), out.size()}).own_jpeg);
  EXPECT_EQ(out, card(33, 21).pixels);
}

TEST(PictureDecoder, ManyFilesFailOneByOne) {
  const Bytes good = jpeg(card(50, 40)), other = jpeg(card(90, 8), {.h_sampling = 2});
  Bytes cut = good;
  cut.resize(cut.size() / 2);
  std::vector<Bytes> outs(4, Bytes(50 * 40 * 3));
  std::vector<PictureDecoder::Task> tasks(4);
  const Bytes* files[] = {&good, &cut, &other, &good};
  for (size_t i = 0; i < 4; ++i) {
    tasks[i].file = *files[i];
    tasks[i].target = {outs[i].data(), outs[i].size()};
  }
  tasks[3].target.bytes = 10;
  std::vector<size_t> order;
  PictureDecoder decoder;
  decoder.decode_many(tasks, [&](size_t i) { order.push_back(i); });
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(tasks[0].error, "");
  EXPECT_TRUE(tasks[0].info.own_jpeg);
  EXPECT_EQ(outs[0], expected_pixels(good, 3));
  EXPECT_EQ(tasks[1].error.substr(0, 9), "truncated");
  EXPECT_EQ(tasks[2].error, "");
  EXPECT_EQ(tasks[2].info.width_px, 90);
  EXPECT_NE(tasks[3].error.find("target of 10 bytes"), std::string::npos);
}

TEST(PictureDecoder, ErrorsAreThrownWithTheirCause) {
  Bytes cut = jpeg(card(50, 40));
  cut.resize(cut.size() / 2);
  Bytes out(50 * 40 * 3);
  PictureDecoder decoder;
  EXPECT_THROW(decoder.decode(cut, {out.data(), out.size()}), Error);
  EXPECT_THROW(decoder.info(Bytes{1, 2, 3}), Error);
  EXPECT_THROW(decoder.decode(jpeg(card(50, 40)), {out.data(), out.size() - 1}),
               std::invalid_argument);
}

}  // namespace
}  // namespace yoload
