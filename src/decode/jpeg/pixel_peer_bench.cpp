// pixel_peer_bench DIR [ROUNDS]: PixelRows against libjpeg-turbo's inverse DCT, upsampling and
// colour, one thread.
//
// Both start from coefficients in memory and end with RGB in memory, buffers reused:
//   libjpeg  buffered-image mode. All scans are consumed beforehand, untimed; timed is the output
//   pass, from
//            jpeg_start_output to jpeg_finish_output, reading eight rows of interleaved RGB at a
//            time. That pass takes the coefficients from the library's arrays and does no entropy
//            decoding.
//   ours     PixelRows from begin() to finish(), into the planes of an Image.
// As a check, "full - entropy" is what a caller sees: a whole decode to RGB less
// jpeg_read_coefficients (which also has to store all coefficients, so it takes too much away).
// Each picture is done by all of them in turn, each once unmeasured and then kRepeats times with
// the best kept; a round is the sum over all pictures. Reported: medians over the rounds, the
// spread of the ratio. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "decode/jpeg/pixel_rows.h"
#include "decode/jpeg/test_coefficients.h"

namespace {

using namespace yoload;
using namespace yoload::decode;
using test::Bytes;

constexpr int kRepeats = 3;

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

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Work>
double best_us(const Work& work) {
  work();
  double best = 1e30;
  for (int i = 0; i < kRepeats; ++i) {
    const double start = now_us();
    work();
    best = std::min(best, now_us() - start);
  }
  return best;
}

// Errors end the program: the input is known to be good.
class Library {
 public:
  explicit Library(const Bytes& file) : file_(file) {
    cinfo_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&cinfo_);
    jpeg_mem_src(&cinfo_, file_.data(), file_.size());
    jpeg_read_header(&cinfo_, TRUE);
  }
  ~Library() { jpeg_destroy_decompress(&cinfo_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void consume() {
    cinfo_.buffered_image = TRUE;
    cinfo_.do_block_smoothing = FALSE;
    cinfo_.out_color_space = space();
    jpeg_start_decompress(&cinfo_);
    while (jpeg_consume_input(&cinfo_) != JPEG_REACHED_EOI) {
    }
  }
  void output_pass(Bytes* pixels) {
    jpeg_start_output(&cinfo_, cinfo_.input_scan_number);
    read(pixels);
    jpeg_finish_output(&cinfo_);
  }
  void decode(Bytes* pixels) {
    cinfo_.out_color_space = space();
    jpeg_start_decompress(&cinfo_);
    read(pixels);
    jpeg_finish_decompress(&cinfo_);
  }
  void entropy() { jpeg_read_coefficients(&cinfo_); }

 private:
  // A gray picture is read as it is, without repeating it for three channels.
  J_COLOR_SPACE space() const { return cinfo_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB; }
  void read(Bytes* pixels) {
    const size_t stride_bytes = cinfo_.output_width * static_cast<size_t>(cinfo_.output_components);
    pixels->resize(std::max(pixels->size(), stride_bytes * cinfo_.output_height));
    while (cinfo_.output_scanline < cinfo_.output_height) {
      JSAMPROW rows[8];
      for (JDIMENSION i = 0; i < 8; ++i) {
        const JDIMENSION y = std::min(cinfo_.output_scanline + i, cinfo_.output_height - 1);
        rows[i] = pixels->data() + y * stride_bytes;
      }
      jpeg_read_scanlines(&cinfo_, rows, 8);
    }
  }

  const Bytes& file_;
  jpeg_decompress_struct cinfo_{};
  jpeg_error_mgr errors_{};
};

struct Times {
  double library = 0;
  double ours = 0;
  double full = 0;
  double entropy = 0;
};

Times measure(const Bytes& file, jpeg::PixelRows* rows, Bytes* pixels) {
  Times times;
  const test::Coefficients picture = test::read_coefficients(file);
  const jpeg::Frame& frame = picture.frame;
  static std::shared_ptr<BufferPool> pool = BufferPool::create(size_t{256} << 20);
  times.ours = best_us([&] {
    Image image(pool.get(), frame.width_px, frame.height_px, frame.components);
    RowSink sink;
    sink.begin(image.mutable_view(), 1, frame.width_px, frame.height_px);
    rows->begin(frame, &sink);
    for (int y = 0; y < frame.mcus_y; ++y) rows->add_mcu_row(picture.row(y));
    rows->finish();
  });
  {
    Library library(file);
    library.consume();
    times.library = best_us([&] { library.output_pass(pixels); });
  }
  times.full = best_us([&] { Library(file).decode(pixels); });
  times.entropy = best_us([&] { Library(file).entropy(); });
  return times;
}

void compare(const std::string& name, const std::vector<Bytes>& files, int rounds) {
  jpeg::PixelRows rows;
  Bytes pixels;
  double pixel_count = 0;
  for (const Bytes& file : files) {
    const jpeg::Frame frame = test::read_coefficients(file).frame;
    pixel_count += static_cast<double>(frame.width_px) * frame.height_px;
  }
  std::vector<double> library, ours, ratios, seen;
  for (int round = 0; round < rounds; ++round) {
    Times sum;
    for (const Bytes& file : files) {
      const Times times = measure(file, &rows, &pixels);
      sum.library += times.library;
      sum.ours += times.ours;
      sum.full += times.full;
      sum.entropy += times.entropy;
    }
    library.push_back(sum.library * 1000 / pixel_count);
    ours.push_back(sum.ours * 1000 / pixel_count);
    ratios.push_back(sum.ours / sum.library);
    seen.push_back((sum.full - sum.entropy) * 1000 / pixel_count);
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  fmt::print(
      "{:<12} libjpeg {:.3f} ns/px (full - entropy {:.3f})  ours {:.3f} ns/px  ratio {:.3f} "
      "({:.3f}..{:.3f})\n",
      name, median(library), median(seen), median(ours), median(ratios), *low, *high);
  std::fflush(stdout);
}

test::Rgb decode_rgb(const Bytes& file) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, file.data(), file.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = JCS_RGB;
  jpeg_start_decompress(&cinfo);
  test::Rgb rgb{static_cast<int>(cinfo.output_width), static_cast<int>(cinfo.output_height), {}};
  rgb.pixels.resize(size_t{cinfo.output_width} * cinfo.output_height * 3);
  while (cinfo.output_scanline < cinfo.output_height) {
    auto* row = const_cast<JSAMPROW>(rgb.at(0, static_cast<int>(cinfo.output_scanline)));
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
  return rgb;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: pixel_peer_bench DIR [ROUNDS]\n");
    return 2;
  }
  const std::vector<Bytes> files = load_jpegs(argv[1]);
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 7;
  if (files.empty()) {
    fmt::print(stderr, "no .jpg files in {}\n", argv[1]);
    return 2;
  }
  fmt::print("{} files, {} rounds\n", files.size(), rounds);
  compare("as they are", files, rounds);
  struct Variant {
    const char* name;
    test::JpegKind kind;
  };
  const std::vector<Variant> variants = {
      {"q90 4:2:0", {.h_sampling = 2, .v_sampling = 2, .quality = 90}},
      {"q75 4:2:0", {.h_sampling = 2, .v_sampling = 2, .quality = 75}},
      {"q90 4:2:2", {.h_sampling = 2, .v_sampling = 1, .quality = 90}},
      {"q90 4:4:4", {.h_sampling = 1, .v_sampling = 1, .quality = 90}},
      {"q90 gray", {.gray = true, .quality = 90}}};
  for (const Variant& variant : variants) {
    std::vector<Bytes> encoded;
    encoded.reserve(files.size());
    for (const Bytes& file : files) encoded.push_back(test::jpeg(decode_rgb(file), variant.kind));
    compare(variant.name, encoded, rounds);
  }
  return 0;
}
