// Page-locked files, pictures in device memory and their comparison with the CPU decoder, for the
// tests and benchmarks of this folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "decode/cuda/device_jpeg_job.h"
#include "decode/decoder.h"
#include "decode/jpeg/marker_scan.h"
#include "decode/test_pictures.h"
#include "device/cuda/memory.h"

namespace yoload::decode::test {

/// A file in page-locked memory.
class PinnedFile {
 public:
  explicit PinnedFile(std::span<const uint8_t> bytes)
      : block_(std::max<size_t>(bytes.size(), 1)), bytes_(bytes.size()) {
    std::memcpy(block_.data(), bytes.data(), bytes.size());
  }
  std::span<const uint8_t> bytes() const { return {block_.data(), bytes_}; }

 private:
  device::PinnedBlock block_;
  size_t bytes_;
};

/// A planar picture in device memory, filled with 0xA5. Rows are `pitch_bytes` apart, or as long as
/// the picture is wide where that is 0.
class DevicePicture {
 public:
  DevicePicture(int width_px, int height_px, int channels, size_t pitch_bytes = 0)
      : block_(std::max(pitch_bytes, static_cast<size_t>(width_px)) *
               static_cast<size_t>(height_px) * static_cast<size_t>(channels)) {
    view_.data = block_.data();
    view_.width_px = width_px, view_.height_px = height_px, view_.channels = channels;
    view_.row_stride_bytes = std::max(pitch_bytes, static_cast<size_t>(width_px));
    view_.plane_stride_bytes = view_.row_stride_bytes * static_cast<size_t>(height_px);
    clear();
  }
  MutableImageView view() const { return view_; }
  void clear() {
    device::check(cudaMemset(block_.data(), 0xA5, block_.size()), "clear a picture");
    device::check(cudaDeviceSynchronize(), "clear a picture");
  }
  /// All bytes, padding included. The stream that wrote them must have been waited for.
  std::vector<uint8_t> download() const {
    std::vector<uint8_t> bytes(block_.size());
    device::check(cudaMemcpy(bytes.data(), block_.data(), bytes.size(), cudaMemcpyDeviceToHost),
                  "download a picture");
    return bytes;
  }

 private:
  device::DeviceBlock block_;
  MutableImageView view_;
};

struct Difference {
  int most = 0;
  double mean = 0;
  bool same_size = true;
  bool padding_kept = true;
};

inline Difference compare(const DevicePicture& picture, const ImageView& expected) {
  const MutableImageView view = picture.view();
  Difference difference;
  if (view.width_px != expected.width_px || view.height_px != expected.height_px ||
      view.channels != expected.channels) {
    difference.same_size = false;
    difference.most = 255;
    return difference;
  }
  const std::vector<uint8_t> bytes = picture.download();
  uint64_t sum = 0;
  for (int c = 0; c < view.channels; ++c) {
    for (int y = 0; y < view.height_px; ++y) {
      const uint8_t* row = bytes.data() + static_cast<size_t>(c) * view.plane_stride_bytes +
                           static_cast<size_t>(y) * view.row_stride_bytes;
      for (int x = 0; x < view.width_px; ++x) {
        const int off = std::abs(int{row[x]} - int{expected.at(c, y, x)});
        difference.most = std::max(difference.most, off);
        sum += static_cast<uint64_t>(off);
      }
      for (size_t x = static_cast<size_t>(view.width_px); x < view.row_stride_bytes; ++x) {
        difference.padding_kept &= row[x] == 0xA5;
      }
    }
  }
  difference.mean = static_cast<double>(sum) /
                    (static_cast<double>(view.width_px) * view.height_px * view.channels);
  return difference;
}

/// What the CPU decoder makes of it.
inline Result<Decoded> decode_on_cpu(std::span<const uint8_t> bytes, int channels = 3) {
  DecodeOptions options;
  options.channels = channels;
  return Decoder(options).decode(bytes, nullptr);
}

/// Structure at every scale and some noise, so that chroma, block borders and long codes matter.
inline Rgb busy_picture(int width_px, int height_px, uint32_t seed = 1, int noise = 24) {
  Rgb rgb = card(width_px, height_px);
  std::mt19937 random(seed);
  for (int y = 0; y < height_px; ++y) {
    for (int x = 0; x < width_px; ++x) {
      uint8_t* pixel =
          rgb.pixels.data() +
          3 * (static_cast<size_t>(y) * static_cast<size_t>(width_px) + static_cast<size_t>(x));
      const int patch = ((x / 24 + y / 17 + static_cast<int>(seed)) % 5) * 30;
      for (int c = 0; c < 3; ++c) {
        const int value = pixel[c] / 2 + (c == 1 ? 150 - patch : patch) +
                          static_cast<int>(random() % static_cast<uint32_t>(noise + 1));
        pixel[c] = static_cast<uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }
  return rgb;
}

inline Bytes read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes{std::istreambuf_iterator<char>(stream), {}};
}

/// All JPEGs under a folder, in order of their names.
inline std::vector<std::filesystem::path> jpegs_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string extension = entry.path().extension();
    std::transform(extension.begin(), extension.end(), extension.begin(), ::tolower);
    if (extension == ".jpg" || extension == ".jpeg") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace yoload::decode::test
