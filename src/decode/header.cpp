// SPDX-License-Identifier: Apache-2.0
#include "decode/header.h"

#include <fmt/format.h>

#include <utility>

#include "decode/exif.h"
#include "decode/limits.h"

namespace yoload::decode {

Result<ImageInfo> read_header(ByteSource& source) {
  ImageInfo info;
  info.format = sniff(source);
  Status status;
  switch (info.format) {
    case ImageFormat::jpeg:
      status = read_jpeg_header(source, &info);
      break;
    case ImageFormat::png:
      status = read_png_header(source, &info);
      break;
    case ImageFormat::webp:
      status = read_webp_header(source, &info);
      break;
    case ImageFormat::tiff:
      status = read_tiff_header(source, &info);
      break;
    case ImageFormat::bmp:
      status = read_bmp_header(source, &info);
      break;
    case ImageFormat::gif:
      status = read_gif_header(source, &info);
      break;
    case ImageFormat::npy:
      status = read_npy_header(source, &info);
      break;
    case ImageFormat::avif:
    case ImageFormat::heic:
    case ImageFormat::jxl:
    case ImageFormat::jp2:
      return fail(
          Code::unsupported,
          fmt::format("{} pictures are not decoded by this build; convert to JPEG, PNG or WebP",
                      name(info.format)));
    case ImageFormat::unknown:
      return not_a_picture(source);
  }
  if (!status.ok()) return status;
  if (swaps_axes(info.orientation)) std::swap(info.width_px, info.height_px);
  return info;
}

}  // namespace yoload::decode
