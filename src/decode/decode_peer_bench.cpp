// decode_peer_bench DIR [ROUNDS]: our decoder against the bare libjpeg-turbo C interface, one
// thread.
//
// Measured per picture: bytes in memory to pixels in memory, buffers reused. "bare" is what a
// careful C program does: header, jpeg_read_scanlines to interleaved RGB, finish. Both see every
// file in turn, so that frequency and noisy neighbours hit them alike; the medians are over the
// rounds' means. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "decode/decoder.h"

namespace {

using namespace yoload;
using Bytes = std::vector<uint8_t>;

std::vector<Bytes> load_jpegs(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

// Errors end the program: the input is known to be good.
void decode_bare(const Bytes& bytes, std::vector<uint8_t>* rgb) {
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
    JSAMPROW rows[8];
    for (JDIMENSION i = 0; i < 8; ++i) {
      const JDIMENSION y = std::min(cinfo.output_scanline + i, cinfo.output_height - 1);
      rows[i] = rgb->data() + y * stride_bytes;
    }
    jpeg_read_scanlines(&cinfo, rows, 8);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
}

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: decode_peer_bench DIR [ROUNDS]\n");
    return 2;
  }
  const std::vector<Bytes> files = load_jpegs(argv[1]);
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
  if (files.empty()) {
    fmt::print(stderr, "no .jpg files in {}\n", argv[1]);
    return 2;
  }
  const auto pool = BufferPool::create(size_t{256} << 20);
  Decoder decoder(DecodeOptions{});
  std::vector<uint8_t> rgb;
  std::vector<double> ours_ms;
  std::vector<double> bare_ms;
  std::vector<double> ratios;
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    double ours = 0;
    double bare = 0;
    for (const Bytes& file : files) {
      const double start = now_ms();
      decode_bare(file, &rgb);
      const double middle = now_ms();
      const auto decoded = decoder.decode(file, pool.get());
      ours += now_ms() - middle;
      bare += middle - start;
      if (!decoded.ok()) {
        fmt::print(stderr, "{}\n", decoded.status().to_string());
        return 1;
      }
    }
    if (round < 0) continue;
    const double count = static_cast<double>(files.size());
    ours_ms.push_back(ours / count);
    bare_ms.push_back(bare / count);
    ratios.push_back(ours / bare);
  }
  fmt::print("{} files, {} rounds\n", files.size(), rounds);
  fmt::print("bare libjpeg-turbo RGB  {:.3f} ms/image  {:.0f} images/s\n", median(bare_ms),
             1000 / median(bare_ms));
  fmt::print("yoload Decoder          {:.3f} ms/image  {:.0f} images/s\n", median(ours_ms),
             1000 / median(ours_ms));
  fmt::print("time ratio yoload/bare  {:.3f} (spread {:.3f} to {:.3f})\n", median(ratios),
             *std::min_element(ratios.begin(), ratios.end()),
             *std::max_element(ratios.begin(), ratios.end()));
  return 0;
}
