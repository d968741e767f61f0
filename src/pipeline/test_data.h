// A small data set of generated BMP pictures with labels, in a folder that goes away with the test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "yoload/options.h"

namespace yoload::testing {

using Pixel = std::array<uint8_t, 3>;  // r, g, b

/// Writes a 24-bit BMP with the colours that `pixel(x, y)` returns.
template <class PixelAt>
void write_bmp(const std::string& path, int width_px, int height_px, const PixelAt& pixel) {
  const int row_bytes = (width_px * 3 + 3) / 4 * 4;
  const auto pixels = static_cast<uint32_t>(row_bytes * height_px);
  std::string file = "BM";
  const auto put = [&](uint32_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) file += static_cast<char>(value >> (8 * b));
  };
  put(54 + pixels, 4), put(0, 4), put(54, 4), put(40, 4);
  put(static_cast<uint32_t>(width_px), 4), put(static_cast<uint32_t>(height_px), 4);
  put(1, 2), put(24, 2), put(0, 4), put(pixels, 4), put(2835, 4), put(2835, 4), put(0, 4),
      put(0, 4);
  for (int y = height_px - 1; y >= 0; --y) {  // bottom row first
    for (int x = 0; x < width_px; ++x) {
      const Pixel rgb = pixel(x, y);
      for (const size_t channel : {2, 1, 0}) file += static_cast<char>(rgb[channel]);
    }
    file.append(static_cast<size_t>(row_bytes - width_px * 3), '\0');
  }
  std::ofstream(path, std::ios::binary) << file;
}

/// Noise that depends on `seed` alone.
inline void write_noise(const std::string& path, int width_px, int height_px, int seed) {
  uint32_t state = 12345u + static_cast<uint32_t>(seed) * 7919u;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<uint8_t>(state >> 24);
  };
  write_bmp(path, width_px, height_px, [&](int, int) { return Pixel{next(), next(), next()}; });
}

class TestData {
 public:
  /// `count` pictures of width x height (alternating with height x width), two boxes each.
  TestData(const std::string& name, int count, int width_px = 96, int height_px = 64)
      : root_(std::filesystem::temp_directory_path() /
              ("yoload_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "images");
    std::filesystem::create_directories(root_ / "labels");
    for (int i = 0; i < count; ++i) {
      const bool turned = i % 2 == 1;
      write_noise(image(i), turned ? height_px : width_px, turned ? width_px : height_px, i);
      std::ofstream(root_ / "labels" / (stem(i) + ".txt")) << i % 3 << " 0.5 0.5 0.4 0.3\n"
                                                           << (i + 1) % 3 << " 0.25 0.3 0.2 0.2\n";
    }
    std::ofstream(root_ / "data.yaml")
        << "train: images\nval: images\nnames: [scratch, spot, missing]\n";
  }
  ~TestData() { std::filesystem::remove_all(root_); }
  TestData(const TestData&) = delete;
  TestData& operator=(const TestData&) = delete;

  std::string path(const std::string& file) const { return (root_ / file).string(); }
  std::string image(int i) const { return (root_ / "images" / (stem(i) + ".bmp")).string(); }
  std::string yaml() const { return (root_ / "data.yaml").string(); }
  std::string cache_dir() const { return (root_ / "cache").string(); }

  /// Options for a fast test: 64 px, batch 4, two threads.
  LoaderOptions options() const {
    LoaderOptions options;
    options.data = yaml();
    options.cache_dir = cache_dir();
    options.imgsz = 64;
    options.batch_size = 4;
    options.workers = 2;
    options.memory_budget_bytes = uint64_t{64} << 20;
    return options;
  }

 private:
  static std::string stem(int i) {
    std::string digits = std::to_string(i);
    return "p" + std::string(5 - digits.size(), '0') + digits;
  }

  std::filesystem::path root_;
};

}  // namespace yoload::testing
