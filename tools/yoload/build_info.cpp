// SPDX-License-Identifier: Apache-2.0
#include "yoload/build_info.h"

// jpeglib.h needs FILE and size_t declared before it.
#include <cstddef>
#include <cstdio>

#include <fmt/format.h>
#include <hwy/highway.h>
#include <jpeglib.h>
#include <png.h>
#include <sys/utsname.h>
#include <tiffio.h>
#include <webp/decode.h>

namespace yoload::cli {
namespace {

#define YOLOAD_TEXT_(x) #x
#define YOLOAD_TEXT(x) YOLOAD_TEXT_(x)
#ifdef LIBJPEG_TURBO_VERSION
constexpr const char* kJpegLibrary = "libjpeg-turbo " YOLOAD_TEXT(LIBJPEG_TURBO_VERSION);
#else
constexpr const char* kJpegLibrary = "libjpeg " YOLOAD_TEXT(JPEG_LIB_VERSION);
#endif

std::string webp_version() {
  const int packed = WebPGetDecoderVersion();
  return fmt::format("{}.{}.{}", packed >> 16, (packed >> 8) & 255, packed & 255);
}

/// "LIBTIFF, Version 4.5.0\nCopyright..." -> "4.5.0"
std::string tiff_version() {
  const std::string text = TIFFGetVersion();
  const size_t start = text.find_first_of("0123456789");
  return start == std::string::npos ? text : text.substr(start, text.find('\n') - start);
}

}  // namespace

std::string_view version() {
  return YOLOAD_VERSION;
}
std::string_view commit() {
  return YOLOAD_COMMIT;
}

std::string simd_target() {
  // Highway numbers better targets lower.
  const auto usable =
      static_cast<uint64_t>(hwy::SupportedTargets()) & static_cast<uint64_t>(HWY_TARGETS);
  return hwy::TargetName(static_cast<decltype(HWY_TARGETS)>(usable & (~usable + 1)));
}

std::string version_text() {
  std::string text = fmt::format("yoload {} (commit {})\n", version(), commit());
  text += fmt::format("compiler     {}, {}{}{}\n", YOLOAD_COMPILER, YOLOAD_BUILD_TYPE,
                      YOLOAD_SANITIZERS[0] != 0 ? ", sanitizers " : "", YOLOAD_SANITIZERS);
  text += fmt::format("simd         {}\n", simd_target());
  text += fmt::format(
      "decoders     {} (API {}), libpng {}, libwebp {}, libtiff {}, own BMP and GIF\n",
      kJpegLibrary, JPEG_LIB_VERSION, png_get_libpng_ver(nullptr), webp_version(), tiff_version());
  text += "not in this build: CUDA, nvJPEG, AVIF, HEIC, JPEG XL, JPEG 2000\n";
  return text;
}

std::string kernel_text() {
  utsname kernel{};
  if (uname(&kernel) != 0) return "unknown";
  return fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine);
}

}  // namespace yoload::cli
