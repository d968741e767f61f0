// Pictures of noise for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "core/image.h"

namespace yoload {

inline Image noise(int width, int height, int channels, uint32_t seed) {
  Image image(nullptr, width, height, channels);
  std::mt19937 random(seed);
  const auto view = image.mutable_view();
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) view.at(c, y, x) = static_cast<uint8_t>(random());
    }
  }
  return image;
}

}  // namespace yoload
