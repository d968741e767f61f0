// Our JPEG paths against the library's own RGB output, byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "decode/decoder.h"
#include "decode/test_pictures.h"

namespace yoload {
namespace {

using namespace decode::test;

Rgb decode_by_library(const Bytes& bytes) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, bytes.data(), bytes.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = JCS_RGB;
  jpeg_start_decompress(&cinfo);
  Rgb rgb{static_cast<int>(cinfo.output_width), static_cast<int>(cinfo.output_height), {}};
  rgb.pixels.resize(static_cast<size_t>(cinfo.output_width) * cinfo.output_height * 3);
  while (cinfo.output_scanline < cinfo.output_height) {
    auto* row = const_cast<JSAMPROW>(rgb.at(0, static_cast<int>(cinfo.output_scanline)));
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
  return rgb;
}

void expect_identical(Decoder& decoder, const Bytes& file) {
  const auto decoded = decoder.decode(file, nullptr);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  const Rgb expected = decode_by_library(file);
  const ImageView view = decoded->image.view();
  ASSERT_EQ(view.width_px, expected.width_px);
  ASSERT_EQ(view.height_px, expected.height_px);
  size_t different = 0;
  for (int y = 0; y < view.height_px; ++y) {
    for (int x = 0; x < view.width_px; ++x) {
      for (int c = 0; c < 3; ++c) different += view.at(c, y, x) != expected.at(x, y)[c];
    }
  }
  EXPECT_EQ(different, 0U);
}

TEST(JpegIdentity, HoldsForEverySamplingAndOddSize) {
  Decoder decoder(DecodeOptions{});
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 9}, {64, 48}, {129, 65}, {333, 250}}) {
    for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}}) {
      for (const bool progressive : {false, true}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << " sampling " << h << "x" << v
                                        << " progressive " << progressive);
        expect_identical(
            decoder,
            jpeg(card(width, height),
                 {.h_sampling = h, .v_sampling = v, .progressive = progressive, .quality = 60}));
      }
    }
  }
}

TEST(JpegIdentity, HoldsForPhotos) {
  const char* shared = std::getenv("YOLOAD_SHARED_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(shared != nullptr ? shared : YOLOAD_SOURCE_DIR "/../shared/data") /
      "coco256" / "images";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is missing";
  Decoder decoder(DecodeOptions{});
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jpg") continue;
    SCOPED_TRACE(entry.path());
    std::ifstream stream(entry.path(), std::ios::binary);
    const Bytes file{std::istreambuf_iterator<char>(stream), {}};
    expect_identical(decoder, file);
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace yoload
