// Regular JPEG files of every kind that our own decoder takes, made by libjpeg-turbo's compressor:
// for tests.
//
// Everything is a function of the seed, so that a failing seed is a bug report. What an ordinary
// encoder never writes is as likely as what it does: chroma of more samples than luma, four Huffman
// tables, 16-bit quantisation, intervals of a single MCU. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstdlib>
#include <vector>

#include <jpeglib.h>

#include "decode/test_pictures.h"

namespace yoload::decode::test {

/// SplitMix64 (Steele, Lea, Flood 2014): the same draws with every standard library.
class SeedDraws {
 public:
  explicit SeedDraws(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t x = state_ += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  /// Uniform enough in low..high, both included.
  int between(int low, int high) {
    return low + static_cast<int>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }

 private:
  uint64_t state_;
};

struct RandomJpegBias {
  int most_px = 257;       ///< of either side
  int usual_px = 40;       ///< half of the sides are not above
  int components = 0;      ///< 1, 3, or 0: drawn
  bool plain_420 = false;  ///< YCbCr with 2x2 1x1 1x1, whatever would have been drawn
};

namespace random_jpeg_parts {

// The compressor divides by eight times the value in 16 bits.
constexpr int kMostDivisor = 8191;

enum class Content { smooth, noise, scene, flat, edges, kCount };

// Interleaved samples of `channels` components.
inline Bytes samples(SeedDraws& draws, int width_px, int height_px, int channels) {
  const auto content =
      static_cast<Content>(draws.between(0, static_cast<int>(Content::kCount) - 1));
  Bytes out(static_cast<size_t>(width_px) * static_cast<size_t>(height_px) *
            static_cast<size_t>(channels));
  struct Box {
    int x0, y0, x1, y1;
    std::array<int, 3> colour;
  };
  std::vector<Box> boxes;
  for (int i = content == Content::scene ? draws.between(3, 12) : 0; i > 0; --i) {
    const int x = draws.between(0, width_px - 1), y = draws.between(0, height_px - 1);
    boxes.push_back({x,
                     y,
                     x + draws.between(1, width_px),
                     y + draws.between(1, height_px),
                     {draws.between(0, 255), draws.between(0, 255), draws.between(0, 255)}});
  }
  const std::array<int, 3> base = {draws.between(0, 255), draws.between(0, 255),
                                   draws.between(0, 255)};
  const double fx = draws.between(1, 40) / 200.0, fy = draws.between(1, 40) / 200.0;
  const int grain = draws.between(0, 30), period = draws.between(1, 12);
  size_t at = 0;
  for (int y = 0; y < height_px; ++y) {
    for (int x = 0; x < width_px; ++x) {
      for (int c = 0; c < channels; ++c) {
        int value = base[static_cast<size_t>(c)];
        switch (content) {
          case Content::smooth:
            value = static_cast<int>(127 + 120 * std::sin(x * fx + c) * std::cos(y * fy - c));
            break;
          case Content::noise:
            value = draws.between(0, 255);
            break;
          case Content::scene:
            for (const Box& box : boxes) {
              if (x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1) {
                value = (value + 3 * box.colour[static_cast<size_t>(c)]) / 4;
              }
            }
            value +=
                static_cast<int>(12 * std::sin(x * fx * 4 + y * fy)) + draws.between(-grain, grain);
            break;
          case Content::edges:
            value = ((x / period + y / period) & 1) != 0 ? 255 : 0;
            break;
          default:
            break;
        }
        out[at++] = static_cast<uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }
  return out;
}

inline void draw_quantisation(SeedDraws& draws, jpeg_compress_struct* cinfo) {
  const int kind = draws.between(0, 5);
  const boolean baseline = draws.one_in(3) ? FALSE : TRUE;
  jpeg_set_quality(cinfo, kind == 0 ? draws.between(1, 10) : draws.between(1, 100), baseline);
  const int tables = draws.between(1, 4);
  for (int number = 0; number < 4; ++number) {
    // The library's two tables stay for some pictures; numbers 2 and 3 have none unless given here.
    if (number < 2 && kind > 1) continue;
    std::array<unsigned, 64> table{};
    const int most = kind == 1 ? kMostDivisor : draws.between(1, 300);
    for (unsigned& value : table) value = static_cast<unsigned>(draws.between(1, most));
    jpeg_add_quant_table(cinfo, number, table.data(), 100, kind == 0 ? baseline : FALSE);
  }
  for (int c = 0; c < cinfo->num_components; ++c) {
    if (!draws.one_in(3)) continue;
    cinfo->comp_info[c].quant_tbl_no = draws.between(0, tables - 1);
  }
}

// The compressor brings tables 0 and 1; 2 and 3 become copies of them, which an optimising run
// replaces.
inline void draw_huffman(SeedDraws& draws, jpeg_compress_struct* cinfo) {
  cinfo->optimize_coding = draws.one_in(2) ? TRUE : FALSE;
  for (int number = 2; number < 4; ++number) {
    for (JHUFF_TBL** slots : {cinfo->dc_huff_tbl_ptrs, cinfo->ac_huff_tbl_ptrs}) {
      if (slots[number] == nullptr) {
        slots[number] = jpeg_alloc_huff_table(reinterpret_cast<j_common_ptr>(cinfo));
      }
      JHUFF_TBL* made = slots[number];
      std::copy_n(slots[number - 2]->bits, sizeof(made->bits), made->bits);
      std::copy_n(slots[number - 2]->huffval, sizeof(made->huffval), made->huffval);
      made->sent_table = FALSE;
    }
  }
  if (draws.one_in(2)) return;  // luma 0, chroma 1
  const int most = draws.one_in(2) ? 1 : 3;
  for (int c = 0; c < cinfo->num_components; ++c) {
    cinfo->comp_info[c].dc_tbl_no = draws.between(0, most);
    cinfo->comp_info[c].ac_tbl_no = draws.between(0, most);
  }
}

inline void draw_sampling(SeedDraws& draws, const RandomJpegBias& bias,
                          jpeg_compress_struct* cinfo) {
  int blocks = 0;
  do {  // T.81 B.2.3: at most ten blocks in an MCU
    blocks = 0;
    for (int c = 0; c < cinfo->num_components; ++c) {
      jpeg_component_info& component = cinfo->comp_info[c];
      component.h_samp_factor = bias.plain_420 ? (c == 0 ? 2 : 1) : draws.between(1, 2);
      component.v_samp_factor = bias.plain_420 ? (c == 0 ? 2 : 1) : draws.between(1, 2);
      blocks += component.h_samp_factor * component.v_samp_factor;
    }
  } while (blocks > 10);
}

}  // namespace random_jpeg_parts

inline Bytes random_jpeg(uint64_t seed, const RandomJpegBias& bias = {}) {
  using namespace random_jpeg_parts;
  SeedDraws draws(seed);
  const auto side = [&] {
    return draws.between(1, draws.one_in(2) ? std::min(bias.usual_px, bias.most_px) : bias.most_px);
  };
  const int width_px = side(), height_px = side();
  int components = bias.components != 0 ? bias.components : draws.one_in(4) ? 1 : 3;
  if (bias.plain_420) components = 3;
  const bool stored_rgb = components == 3 && !bias.plain_420 && draws.one_in(4);

  jpeg_compress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};  // it calls 16-bit quantisation too coarse
  jpeg_create_compress(&cinfo);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&cinfo, &memory, &bytes);
  cinfo.image_width = static_cast<JDIMENSION>(width_px);
  cinfo.image_height = static_cast<JDIMENSION>(height_px);
  cinfo.input_components = components;
  cinfo.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&cinfo);
  if (stored_rgb) jpeg_set_colorspace(&cinfo, JCS_RGB);
  if (draws.one_in(3)) {  // colour known from an Adobe segment, or from the components' names alone
    cinfo.write_JFIF_header = FALSE;
    cinfo.write_Adobe_marker = draws.one_in(2) ? TRUE : FALSE;
  }
  draw_quantisation(draws, &cinfo);
  draw_huffman(draws, &cinfo);
  draw_sampling(draws, bias, &cinfo);
  if (draws.one_in(3)) cinfo.restart_interval = static_cast<unsigned>(draws.between(1, 50));
  const Bytes pixels = samples(draws, width_px, height_px, components);
  jpeg_start_compress(&cinfo, TRUE);
  const size_t row_bytes = static_cast<size_t>(width_px) * static_cast<size_t>(components);
  while (cinfo.next_scanline < cinfo.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels.data() + cinfo.next_scanline * row_bytes);
    jpeg_write_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  Bytes out(memory, memory + bytes);
  free(memory);
  return out;
}

}  // namespace yoload::decode::test
