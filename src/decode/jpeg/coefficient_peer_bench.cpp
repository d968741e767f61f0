// coefficient_peer_bench DIR [ROUNDS]: our entropy decoder, 1 to 4 pictures at once, against
// libjpeg-turbo's, one thread.
//
// Measured per picture: bytes in memory to coefficients in memory, buffers reused. The library's
// side is its decode_mcu(), called for one MCU after another with a zeroed block buffer, just as
// its own decompressor does: jpeg_read_coefficients() would also pay for an array of all
// coefficients, which no decoder of rows needs. Header and set-up are in both. For scale, the
// library's whole way to RGB. All take turns on small groups of files, so that frequency and noisy
// neighbours hit them alike; ratios are per round, then the median and the quartiles of the rounds.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define JPEG_INTERNALS
#include <jpeglib.h>

#include "decode/jpeg/coefficient_stream.h"

namespace {

using namespace yoload::decode::jpeg;
using Bytes = std::vector<uint8_t>;

std::vector<Bytes> load_jpegs(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  CoefficientStream stream;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (stream.begin(bytes)) files.push_back(std::move(bytes));
  }
  return files;
}

void library_entropy(const Bytes& bytes) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, bytes.data(), bytes.size());
  jpeg_read_header(&cinfo, TRUE);
  jpeg_start_decompress(&cinfo);
  alignas(64) static JBLOCK storage[D_MAX_BLOCKS_IN_MCU];
  JBLOCKROW mcu[D_MAX_BLOCKS_IN_MCU];
  for (int i = 0; i < D_MAX_BLOCKS_IN_MCU; ++i) mcu[i] = &storage[i];
  const JDIMENSION mcus = cinfo.MCUs_per_row * cinfo.MCU_rows_in_scan;
  for (JDIMENSION i = 0; i < mcus; ++i) {
    std::memset(storage, 0, static_cast<size_t>(cinfo.blocks_in_MCU) * sizeof(JBLOCK));
    (*cinfo.entropy->decode_mcu)(&cinfo, mcu);
  }
  jpeg_destroy_decompress(&cinfo);
}

void library_rgb(const Bytes& bytes, Bytes* rgb) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, bytes.data(), bytes.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = JCS_RGB;
  jpeg_start_decompress(&cinfo);
  const size_t stride_bytes = static_cast<size_t>(cinfo.output_width) * 3;
  rgb->resize(std::max(rgb->size(), stride_bytes * cinfo.output_height));
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW row = rgb->data() + cinfo.output_scanline * stride_bytes;
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
}

// A lane that has finished its picture takes the next one of the group.
void ours(std::span<const Bytes> files, std::span<CoefficientStream* const> streams) {
  using State = CoefficientStream::State;
  size_t next = 0;
  for (CoefficientStream* stream : streams) {
    if (next < files.size()) stream->begin(files[next++]);
  }
  while (true) {
    bool running = false;
    for (CoefficientStream* stream : streams) {
      if (stream->state() == State::row_ready) {
        stream->release_row();
        if (stream->state() == State::done && next < files.size()) stream->begin(files[next++]);
      }
      if (stream->state() == State::failed) {
        fmt::print(stderr, "a file failed\n");
        std::exit(1);
      }
      running |= stream->state() == State::running;
    }
    if (!running) break;
    advance(streams);
  }
}

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: coefficient_peer_bench DIR [ROUNDS]\n");
    return 2;
  }
  const std::vector<Bytes> files = load_jpegs(argv[1]);
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
  if (files.empty()) {
    fmt::print(stderr, "no .jpg files in {} that are ours\n", argv[1]);
    return 2;
  }
  std::array<CoefficientStream, kMostLanes> all;
  std::array<CoefficientStream*, kMostLanes> streams{};
  for (size_t i = 0; i < kMostLanes; ++i) streams[i] = &all[i];
  constexpr size_t kGroup = 16;
  constexpr size_t kSides =
      kMostLanes + 2;  // 0: library's entropy decoder, 1..4: ours, 5: library's RGB
  std::array<std::vector<double>, kSides> ms, ratios;
  Bytes rgb;
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    std::array<double, kSides> sum{};
    for (size_t at = 0; at < files.size(); at += kGroup) {
      const std::span group(files.data() + at, std::min(kGroup, files.size() - at));
      for (size_t side = 0; side < kSides; ++side) {
        const double start = now_ms();
        if (side == 0) {
          for (const Bytes& file : group) library_entropy(file);
        } else if (side <= kMostLanes) {
          ours(group, std::span<CoefficientStream* const>(streams.data(), side));
        } else {
          for (const Bytes& file : group) library_rgb(file, &rgb);
        }
        sum[side] += now_ms() - start;
      }
    }
    if (round < 0) continue;
    for (size_t side = 0; side < kSides; ++side) {
      ms[side].push_back(sum[side] / static_cast<double>(files.size()));
      ratios[side].push_back(sum[0] / sum[side]);
    }
  }
  fmt::print("{} files, {} rounds; times as fast as the library's entropy decoder\n", files.size(),
             rounds);
  for (size_t side = 0; side < kSides; ++side) {
    const std::string name = side == 0            ? "libjpeg-turbo entropy"
                             : side <= kMostLanes ? fmt::format("ours, {} at once", side)
                                                  : "libjpeg-turbo to RGB";
    fmt::print("{:22} {:.3f} ms/image   x {:.2f}  ({:.2f}..{:.2f})\n", name,
               quantile(ms[side], 0.5), quantile(ratios[side], 0.5), quantile(ratios[side], 0.25),
               quantile(ratios[side], 0.75));
  }
}
