// Writes RgbImages as PNG and JPEG files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "yoload/rgb_image.h"

namespace yoload::cli {

/// Both throw std::runtime_error naming the path when the file cannot be written.
void write_png(const RgbImage& image, const std::string& path);
/// Baseline JPEG with 4:2:0 chroma, quality 1..100.
void write_jpeg(const RgbImage& image, int quality, const std::string& path);

}  // namespace yoload::cli
