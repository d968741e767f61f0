// Pixels against OpenCV's, at points that cv2_reference.py wrote down.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "decode/decoder.h"

namespace yoload {
namespace {

// OpenCV ignores EXIF in WebP; the picture was taken upright all the same.
const std::set<std::string> kDifferent = {"exif-orientation/exif_pillow_hopper_3.webp",
                                          "exif-orientation/exif_pillow_hopper_6.webp"};

std::vector<uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_points(const Decoded& decoded, std::istringstream* points) {
  const ImageView view = decoded.image.view();
  for (std::string point; std::getline(*points, point, '\t');) {
    int x = 0;
    int y = 0;
    int rgb[3] = {};
    ASSERT_EQ(std::sscanf(point.c_str(), "%d,%d,%d,%d,%d", &x, &y, &rgb[0], &rgb[1], &rgb[2]), 5);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(view.at(c, y, x), rgb[c], 1) << point;
  }
}

TEST(Cv2Reference, AgreesWithinOneLevelOnEveryFormat) {
  const char* shared = std::getenv("YOLOAD_SHARED_DATA");
  const std::filesystem::path folder =
      std::filesystem::path(shared != nullptr ? shared : YOLOAD_SOURCE_DIR "/../shared/data") /
      "torture-images";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is missing";
  std::ifstream table(YOLOAD_SOURCE_DIR "/src/decode/cv2_reference.tsv");
  Decoder decoder(DecodeOptions{});
  int files = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string file;
    std::string width;
    std::string height;
    std::getline(fields, file, '\t');
    std::getline(fields, width, '\t');
    std::getline(fields, height, '\t');
    if (kDifferent.contains(file)) continue;
    SCOPED_TRACE(file);
    const auto decoded = decoder.decode(read_file(folder / file), nullptr);
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    ASSERT_EQ(decoded->image.width_px(), std::stoi(width));
    ASSERT_EQ(decoded->image.height_px(), std::stoi(height));
    expect_points(*decoded, &fields);
    ++files;
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace yoload
