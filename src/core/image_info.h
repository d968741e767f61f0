// What the first bytes of a picture tell, shared by the scan, the planner and the decoders.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace yoload {

enum class ImageFormat : uint8_t {
  unknown,
  jpeg,
  png,
  webp,
  bmp,
  tiff,
  gif,
  npy,
  avif,
  heic,
  jxl,
  jp2
};

std::string_view name(ImageFormat format);

/// Header facts. Width and height are those of the upright picture.
struct ImageInfo {
  ImageFormat format = ImageFormat::unknown;
  int32_t width_px = 0;
  int32_t height_px = 0;
  int32_t channels = 0;     ///< as stored: 1 gray, 2 gray+alpha, 3, 4
  int32_t bits = 8;         ///< per channel, as stored
  int32_t orientation = 1;  ///< EXIF, 1..8; already applied to width and height
  int32_t pages = 1;
  bool whole_picture_state =
      false;  ///< progressive or interlaced: decoding keeps all of it in memory
};

/// Reads the header of the file at a path. The pipeline hands the decode stage's reader to the data
/// set scan through this, so that neither stage includes the other. Thread-safe.
using ImageProbe = std::function<Result<ImageInfo>(const std::string& path)>;

/// Is the whole picture readable? For `check`: decodes it and reports what is wrong. Thread-safe.
using ImageVerifier = std::function<Status(const std::string& path)>;

}  // namespace yoload
