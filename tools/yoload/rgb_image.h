// Interleaved 8-bit RGB pictures: what the commands draw on and write to files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace yoload::cli {

struct Rgb {
  uint8_t r = 0, g = 0, b = 0;
};

struct RgbImage {
  RgbImage() = default;
  RgbImage(int width, int height, Rgb fill = {})
      : width_px(width),
        height_px(height),
        pixels(static_cast<size_t>(width) * static_cast<size_t>(height), fill) {}

  int width_px = 0;
  int height_px = 0;
  std::vector<Rgb> pixels;  // H,W

  Rgb& at(int x, int y) {
    return pixels[static_cast<size_t>(y) * static_cast<size_t>(width_px) + static_cast<size_t>(x)];
  }
  const Rgb& at(int x, int y) const {
    return pixels[static_cast<size_t>(y) * static_cast<size_t>(width_px) + static_cast<size_t>(x)];
  }
};

/// Area-averaged copy at most `longest_px` long; never enlarges.
RgbImage shrink_to(const RgbImage& image, int longest_px);

/// Copies `source` to (x0, y0) of `target`, as far as it fits.
void paste(const RgbImage& source, int x0, int y0, RgbImage* target);

}  // namespace yoload::cli
