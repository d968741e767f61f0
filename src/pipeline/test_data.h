// A small data set of generated BMP pictures with labels, in a folder that goes away with the test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "yoload/options.h"

namespace yoload::testing {

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
      write_bmp(image(i), turned ? height_px : width_px, turned ? width_px : height_px, i);
      std::ofstream(root_ / "labels" / (stem(i) + ".txt")) << i % 3 << " 0.5 0.5 0.4 0.3\n"
                                                           << (i + 1) % 3 << " 0.25 0.3 0.2 0.2\n";
    }
    std::ofstream(root_ / "data.yaml")
        << "train: images\nval: images\nnames: [scratch, spot, missing]\n";
  }
  ~TestData() { std::filesystem::remove_all(root_); }
  TestData(const TestData&) = delete;
  TestData& operator=(const TestData&) = delete;

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

  static void write_bmp(const std::string& path, int width_px, int height_px, int seed) {
    const int row_bytes = (width_px * 3 + 3) / 4 * 4;
    const uint32_t pixels = static_cast<uint32_t>(row_bytes * height_px);
    std::string file = "BM";
    const auto put = [&](uint32_t value, int bytes) {
      for (int b = 0; b < bytes; ++b) file += static_cast<char>(value >> (8 * b));
    };
    put(54 + pixels, 4), put(0, 4), put(54, 4), put(40, 4);
    put(static_cast<uint32_t>(width_px), 4), put(static_cast<uint32_t>(height_px), 4);
    put(1, 2), put(24, 2), put(0, 4), put(pixels, 4), put(2835, 4), put(2835, 4), put(0, 4),
        put(0, 4);
    uint32_t state = 12345u + static_cast<uint32_t>(seed) * 7919u;
    for (uint32_t i = 0; i < pixels; ++i) {
      state = state * 1664525u + 1013904223u;
      file += static_cast<char>(state >> 24);
    }
    std::ofstream(path, std::ios::binary) << file;
  }

  std::filesystem::path root_;
};

}  // namespace yoload::testing
