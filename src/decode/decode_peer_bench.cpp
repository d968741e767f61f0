// decode_peer_bench DIR [--rounds N] [--json FILE] [--simd avx2|sse4|scalar]: our JPEG decoder
// against libjpeg-turbo, on one thread.
//
// Measured per picture: bytes in memory to pixels in memory, buffers reused. "bare" is what a
// careful C program does with libjpeg-turbo: header, jpeg_read_scanlines to interleaved RGB,
// finish. Our sides make planar pictures, as the pipeline wants them: "together" decodes several
// pictures at a time, "alone" one after the other, "library" is Decoder with libjpeg-turbo. The
// rows are the files of DIR as they are, and the same pictures coded in other ways. Every round
// runs all sides in turn on every row, so frequency and noisy neighbours hit them alike; ratios are
// of the same round, bare / ours. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "core/json.h"
#include "decode/decoder.h"

namespace {

using namespace yoload;
using Bytes = std::vector<uint8_t>;

struct Rgb {
  int width_px = 0, height_px = 0;
  Bytes pixels;  // H,W,3
};

struct Coding {
  int quality = 90;
  int h = 1, v = 1;
  bool gray = false;
};

struct Set {
  std::string name;
  std::vector<Bytes> files;
};

std::vector<Bytes> load_jpegs(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
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
void decode_bare(const Bytes& bytes, Rgb* rgb) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, bytes.data(), bytes.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = JCS_RGB;
  jpeg_start_decompress(&cinfo);
  rgb->width_px = static_cast<int>(cinfo.output_width);
  rgb->height_px = static_cast<int>(cinfo.output_height);
  const size_t stride_bytes = static_cast<size_t>(cinfo.output_width) * 3;
  rgb->pixels.resize(std::max(rgb->pixels.size(), stride_bytes * cinfo.output_height));
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW rows[8];
    for (JDIMENSION i = 0; i < 8; ++i) {
      const JDIMENSION y = std::min(cinfo.output_scanline + i, cinfo.output_height - 1);
      rows[i] = rgb->pixels.data() + y * stride_bytes;
    }
    jpeg_read_scanlines(&cinfo, rows, 8);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
}

Bytes encode(const Rgb& rgb, const Coding& coding) {
  jpeg_compress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&cinfo, &memory, &bytes);
  cinfo.image_width = static_cast<JDIMENSION>(rgb.width_px);
  cinfo.image_height = static_cast<JDIMENSION>(rgb.height_px);
  cinfo.input_components = 3;
  cinfo.in_color_space = JCS_RGB;
  jpeg_set_defaults(&cinfo);
  if (coding.gray) jpeg_set_colorspace(&cinfo, JCS_GRAYSCALE);
  cinfo.comp_info[0].h_samp_factor = coding.h;
  cinfo.comp_info[0].v_samp_factor = coding.v;
  jpeg_set_quality(&cinfo, coding.quality, TRUE);
  jpeg_start_compress(&cinfo, TRUE);
  while (cinfo.next_scanline < cinfo.image_height) {
    auto* row = const_cast<JSAMPROW>(rgb.pixels.data()) +
                static_cast<size_t>(cinfo.next_scanline) * static_cast<size_t>(rgb.width_px) * 3;
    jpeg_write_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  Bytes out(memory, memory + bytes);
  free(memory);
  return out;
}

Set coded_again(const std::string& name, const std::vector<Bytes>& files, const Coding& coding) {
  Set set{name, {}};
  Rgb rgb;
  for (const Bytes& file : files) {
    decode_bare(file, &rgb);
    set.files.push_back(encode(rgb, coding));
  }
  return set;
}

// Pictures of 4000 x 3000 px, laid out from the files in rows.
Set twelve_megapixels(const std::vector<Bytes>& files) {
  Set set{"12 MP 4:2:0 q90", {}};
  size_t next = 0;
  Rgb tile;
  for (int i = 0; i < 4; ++i) {
    Rgb large{4000, 3000, Bytes(size_t{4000} * 3000 * 3)};
    for (int y0 = 0; y0 < large.height_px; y0 += 480) {
      for (int x0 = 0; x0 < large.width_px;) {
        decode_bare(files[next++ % files.size()], &tile);
        const int width = std::min(tile.width_px, large.width_px - x0);
        for (int y = 0; y < std::min(480, large.height_px - y0); ++y) {
          const auto from = static_cast<size_t>(y % tile.height_px) * tile.width_px * 3;
          const auto to = (static_cast<size_t>(y0 + y) * large.width_px + x0) * 3;
          std::copy_n(tile.pixels.data() + from, static_cast<size_t>(width) * 3,
                      large.pixels.data() + to);
        }
        x0 += width;
      }
    }
    set.files.push_back(encode(large, {.quality = 90, .h = 2, .v = 2}));
  }
  return set;
}

double time_ms(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

struct Spread {
  double median, low, high;  // quartiles
};
Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {values[n / 2], values[n / 4], values[n - 1 - n / 4]};
}

class Sides {
 public:
  Sides() {
    DecodeOptions options;
    ours_ = std::make_unique<Decoder>(options);
    options.jpeg = JpegDecode::libjpeg_turbo;
    library_ = std::make_unique<Decoder>(options);
  }

  static constexpr size_t kCount = 4;
  static constexpr const char* kNames[kCount] = {"bare", "together", "alone", "library"};

  void run(size_t side, const Set& set) {
    switch (side) {
      case 0:
        for (const Bytes& file : set.files) decode_bare(file, &rgb_);
        break;
      case 1:
        together(set);
        break;
      default:
        for (const Bytes& file : set.files) {
          const auto decoded = (side == 2 ? *ours_ : *library_).decode(file, pool_.get());
          require(decoded, side == 2);
        }
    }
  }

 private:
  // In the groups that the pipeline makes.
  void together(const Set& set) {
    constexpr size_t kGroup = 2 * Decoder::kTogether;
    for (size_t first = 0; first < set.files.size(); first += kGroup) {
      std::vector<DecodeRequest> requests;
      for (size_t i = first; i < std::min(first + kGroup, set.files.size()); ++i) {
        requests.push_back({set.files[i]});
      }
      ours_->decode_many(requests, pool_.get(), 0,
                         [&](size_t, const Result<Decoded>& decoded) { require(decoded, true); });
    }
  }

  static void require(const Result<Decoded>& decoded, bool own) {
    if (decoded.ok() && decoded->own_jpeg == own) return;
    fmt::print(
        stderr, "{}\n",
        decoded.ok() ? "not decoded by the side that was meant" : decoded.status().to_string());
    std::exit(1);
  }

  std::unique_ptr<Decoder> ours_, library_;
  std::shared_ptr<BufferPool> pool_ = BufferPool::create(size_t{256} << 20, false);
  Rgb rgb_;
};

void measure(const Set& set, int rounds, JsonWriter* json) {
  Sides sides;
  std::vector<double> ms[Sides::kCount];
  for (int round = -1; round < rounds; ++round) {
    for (size_t side = 0; side < Sides::kCount; ++side) {
      const double took = time_ms([&] { sides.run(side, set); });
      if (round >= 0) ms[side].push_back(took / static_cast<double>(set.files.size()));
    }
  }
  size_t bytes = 0;
  for (const Bytes& file : set.files) bytes += file.size();
  json->begin_object().field("set", set.name);
  json->field("files", static_cast<uint64_t>(set.files.size()));
  json->field("mean_file_bytes", static_cast<uint64_t>(bytes / set.files.size()));
  fmt::print("{:<18}", set.name);
  for (size_t side = 0; side < Sides::kCount; ++side) {
    const Spread time = spread_of(ms[side]);
    json->field(fmt::format("{}_ms", Sides::kNames[side]).c_str(), time.median);
    fmt::print("  {} {:.3f} ms", Sides::kNames[side], time.median);
    if (side == 0) continue;
    std::vector<double> ratios;
    for (size_t i = 0; i < ms[side].size(); ++i) ratios.push_back(ms[0][i] / ms[side][i]);
    const Spread ratio = spread_of(ratios);
    json->key(fmt::format("bare_over_{}", Sides::kNames[side]).c_str()).begin_array();
    json->value(ratio.median).value(ratio.low).value(ratio.high).end_array();
    fmt::print(" ({:.2f}x, {:.2f}..{:.2f})", ratio.median, ratio.low, ratio.high);
  }
  fmt::print("\n");
  json->end_object();
}

int64_t target_named(const std::string& simd) {
  if (simd == "avx2") return HWY_AVX2;
  if (simd == "sse4") return HWY_SSE4;
  if (simd == "scalar") return HWY_EMU128;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder, json_path, simd;
  int rounds = 15;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--json" && i + 1 < argc) {
      json_path = argv[++i];
    } else if (argument == "--simd" && i + 1 < argc) {
      simd = argv[++i];
    } else {
      folder = argument;
    }
  }
  if (folder.empty() || (!simd.empty() && target_named(simd) == 0)) {
    fmt::print(
        stderr,
        "usage: decode_peer_bench DIR [--rounds N] [--json FILE] [--simd avx2|sse4|scalar]\n");
    return 2;
  }
  if (!simd.empty()) hwy::SetSupportedTargetsForTest(target_named(simd));
  const std::vector<Bytes> files = load_jpegs(folder);
  if (files.empty()) {
    fmt::print(stderr, "no .jpg files in {}\n", folder);
    return 2;
  }
  const Set sets[] = {{"as it is", files},
                      coded_again("4:4:4 q90", files, {90, 1, 1}),
                      coded_again("4:2:2 q90", files, {90, 2, 1}),
                      coded_again("4:2:0 q90", files, {90, 2, 2}),
                      coded_again("4:2:0 q75", files, {75, 2, 2}),
                      coded_again("gray q90", files, {90, 1, 1, true}),
                      twelve_megapixels(files)};
  JsonWriter json;
  json.begin_object().field("simd", simd.empty() ? "best" : simd.c_str());
  json.field("rounds", static_cast<int64_t>(rounds)).key("rows").begin_array();
  for (const Set& set : sets) measure(set, rounds, &json);
  json.end_array().end_object();
  if (!json_path.empty()) std::ofstream(json_path) << json.take() << "\n";
  return 0;
}
