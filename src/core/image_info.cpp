// SPDX-License-Identifier: Apache-2.0
#include "core/image_info.h"

#include <array>

namespace yoload {

std::string_view name(ImageFormat format) {
  constexpr std::array<std::string_view, 12> kNames = {"unknown", "JPEG", "PNG", "WebP",
                                                       "BMP",     "TIFF", "GIF", "NPY",
                                                       "AVIF",    "HEIC", "JXL", "JPEG 2000"};
  return kNames.at(static_cast<size_t>(format));
}

}  // namespace yoload
