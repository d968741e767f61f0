// What is measured: libjpeg-turbo alone, files in memory -> RGB rows in a buffer that is reused,
// through its C interface, on N threads. The ceiling for everything that decodes each picture with
// the library.
//
//   libjpeg_decode DIR THREADS ROUNDS     prints {"images_per_s": .., "cpu_s_per_image": ..}
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <jpeglib.h>

namespace {

using Bytes = std::vector<unsigned char>;

void decode(const Bytes& file, Bytes* rows) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  const size_t stride = size_t{info.output_width} * 3;
  rows->resize(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = rows->data() + stride * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s DIR THREADS ROUNDS\n", argv[0]);
    return 2;
  }
  std::vector<Bytes> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.path().extension() != ".jpg") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  const size_t total = files.size() * static_cast<size_t>(std::atoi(argv[3]));
  std::atomic<size_t> next{0};
  const auto work = [&] {
    Bytes rows;
    for (size_t i = next++; i < total; i = next++) decode(files[i % files.size()], &rows);
  };
  const double cpu_before = cpu_s();
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[2]); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{{\"images_per_s\": {:.2f}, \"cpu_s_per_image\": {:.6f}}}\n",
             static_cast<double>(total) / wall_s,
             (cpu_s() - cpu_before) / static_cast<double>(total));
  return 0;
}
