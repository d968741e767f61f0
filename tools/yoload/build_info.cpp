// SPDX-License-Identifier: Apache-2.0
#include "yoload/build_info.h"

// jpeglib.h needs FILE and size_t declared before it.
#include <cstddef>
#include <cstdio>

#include <fmt/format.h>
#include <hwy/highway.h>
#include <jpeglib.h>
#include <png.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <tiffio.h>
#include <unistd.h>
#include <webp/decode.h>

#include <fstream>

namespace yoload::cli {
namespace {

/// Rest of the first line of /proc/`file` that starts with `key`, behind the colon and blanks.
std::string proc_value(const char* file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

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

Machine this_machine() {
  Machine machine;
  machine.cpu = proc_value("/proc/cpuinfo", "model name");
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) machine.usable_cpus = CPU_COUNT(&set);
  machine.memory_bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  utsname kernel{};
  if (uname(&kernel) == 0) {
    machine.kernel = fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine);
  }
  if (machine.cpu.empty()) machine.cpu = kernel.machine;  // aarch64 kernels name no model
  return machine;
}

uint64_t peak_rss_bytes() {
  const std::string kilobytes = proc_value("/proc/self/status", "VmHWM");
  return kilobytes.empty() ? 0 : std::stoull(kilobytes) * 1024;
}

double process_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace yoload::cli
