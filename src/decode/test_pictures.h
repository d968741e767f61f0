// Small pictures in every format, written in memory, for the tests and fuzz seeds of this stage.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>

#include "core/image.h"

namespace yoload::decode::test {

using Bytes = std::vector<uint8_t>;

/// Interleaved 8-bit RGB.
struct Rgb {
  int width_px = 0;
  int height_px = 0;
  Bytes pixels;
  const uint8_t* at(int x, int y) const {
    return pixels.data() +
           3 * (static_cast<size_t>(y) * static_cast<size_t>(width_px) + static_cast<size_t>(x));
  }
};

/// Every pixel differs from its mirror images and neighbours.
inline Rgb card(int width_px, int height_px) {
  Rgb rgb{width_px, height_px, {}};
  for (int y = 0; y < height_px; ++y) {
    for (int x = 0; x < width_px; ++x) {
      rgb.pixels.push_back(static_cast<uint8_t>(x * 255 / std::max(1, width_px - 1)));
      rgb.pixels.push_back(static_cast<uint8_t>(y * 255 / std::max(1, height_px - 1)));
      rgb.pixels.push_back(static_cast<uint8_t>((x * 7 + y * 13) % 256));
    }
  }
  return rgb;
}

inline void put16(Bytes* out, uint32_t value, bool big_endian) {
  const auto low = static_cast<uint8_t>(value);
  const auto high = static_cast<uint8_t>(value >> 8);
  out->push_back(big_endian ? high : low);
  out->push_back(big_endian ? low : high);
}

inline void put32(Bytes* out, uint32_t value, bool big_endian) {
  put16(out, big_endian ? value >> 16 : value, big_endian);
  put16(out, big_endian ? value : value >> 16, big_endian);
}

inline void append(Bytes* out, const std::string& text) {
  // Not insert(): inlined into these small writers, GCC 12 takes it for an overflow.
  std::copy(text.begin(), text.end(), std::back_inserter(*out));
}

/// A TIFF block whose directory 0 holds nothing but an orientation, as SHORT or LONG.
inline Bytes exif_block(int orientation, bool big_endian = true, bool as_long = false) {
  Bytes out;
  append(&out, big_endian ? "MM" : "II");
  put16(&out, 42, big_endian);
  put32(&out, 8, big_endian);
  put16(&out, 1, big_endian);
  put16(&out, 274, big_endian);
  put16(&out, as_long ? 4 : 3, big_endian);
  put32(&out, 1, big_endian);
  if (as_long) {
    put32(&out, static_cast<uint32_t>(orientation), big_endian);
  } else {
    put16(&out, static_cast<uint32_t>(orientation), big_endian);
    put16(&out, 0, big_endian);
  }
  put32(&out, 0, big_endian);
  return out;
}

struct JpegKind {
  int h_sampling = 1;
  int v_sampling = 1;
  bool progressive = false;
  bool gray = false;
  int quality = 95;
  int restart_interval_mcus = 0;
};

inline Bytes jpeg(const Rgb& rgb, const JpegKind& kind = {}) {
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
  if (kind.gray) jpeg_set_colorspace(&cinfo, JCS_GRAYSCALE);
  cinfo.comp_info[0].h_samp_factor = kind.h_sampling;
  cinfo.comp_info[0].v_samp_factor = kind.v_sampling;
  jpeg_set_quality(&cinfo, kind.quality, TRUE);
  cinfo.restart_interval = static_cast<unsigned>(kind.restart_interval_mcus);
  if (kind.progressive) jpeg_simple_progression(&cinfo);
  jpeg_start_compress(&cinfo, TRUE);
  while (cinfo.next_scanline < cinfo.image_height) {
    auto* row = const_cast<JSAMPROW>(rgb.at(0, static_cast<int>(cinfo.next_scanline)));
    jpeg_write_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  Bytes out(memory, memory + bytes);
  free(memory);
  return out;
}

/// Puts a segment with any marker right behind SOI.
inline Bytes with_jpeg_segment(const Bytes& file, uint8_t marker, const Bytes& payload) {
  Bytes out = {0xFF, 0xD8, 0xFF, marker};
  put16(&out, static_cast<uint32_t>(payload.size() + 2), true);
  std::copy(payload.begin(), payload.end(), std::back_inserter(out));
  std::copy(file.begin() + 2, file.end(), std::back_inserter(out));
  return out;
}

inline Bytes with_jpeg_exif(const Bytes& file, const Bytes& block) {
  Bytes payload = {'E', 'x', 'i', 'f', 0, 0};
  payload.insert(payload.end(), block.begin(), block.end());
  return with_jpeg_segment(file, 0xE1, payload);
}

/// libpng to memory. `bits` 8 or 16; samples in native order; `colour_type` as PNG_COLOR_TYPE_*.
inline Bytes png(int width_px, int height_px, int bits, int colour_type, const void* samples,
                 size_t row_bytes, bool interlaced = false, const Bytes& exif = {}) {
  Bytes out;
  png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(writer);
  png_set_write_fn(
      writer, &out,
      [](png_structp self, png_bytep data, size_t bytes) {
        auto& target = *static_cast<Bytes*>(png_get_io_ptr(self));
        target.insert(target.end(), data, data + bytes);
      },
      [](png_structp) {});
  png_set_IHDR(writer, info, static_cast<png_uint_32>(width_px),
               static_cast<png_uint_32>(height_px), bits, colour_type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  Bytes exif_copy = exif;
  if (!exif.empty()) {
    png_set_eXIf_1(writer, info, static_cast<png_uint_32>(exif.size()), exif_copy.data());
  }
  png_write_info(writer, info);
  if (bits == 16) png_set_swap(writer);
  std::vector<png_bytep> rows;
  auto* bytes = static_cast<png_bytep>(const_cast<void*>(samples));
  for (int y = 0; y < height_px; ++y) rows.push_back(bytes + static_cast<size_t>(y) * row_bytes);
  png_write_image(writer, rows.data());
  png_write_end(writer, info);
  png_destroy_write_struct(&writer, &info);
  return out;
}

inline Bytes png(const Rgb& rgb, bool interlaced = false, const Bytes& exif = {}) {
  return png(rgb.width_px, rgb.height_px, 8, PNG_COLOR_TYPE_RGB, rgb.pixels.data(),
             static_cast<size_t>(rgb.width_px) * 3, interlaced, exif);
}

/// Lossless, so that pixels can be compared exactly; with EXIF it becomes an extended file.
inline Bytes webp(const Rgb& rgb, const Bytes& exif = {}) {
  uint8_t* memory = nullptr;
  const size_t bytes = WebPEncodeLosslessRGB(rgb.pixels.data(), rgb.width_px, rgb.height_px,
                                             rgb.width_px * 3, &memory);
  Bytes plain(memory, memory + bytes);
  WebPFree(memory);
  if (exif.empty()) return plain;
  Bytes body;
  append(&body, "WEBPVP8X");
  put32(&body, 10, false);
  put32(&body, 0x08, false);  // EXIF flag
  const auto put24 = [&](int value) {
    put16(&body, static_cast<uint32_t>(value), false);
    body.push_back(static_cast<uint8_t>(value >> 16));
  };
  put24(rgb.width_px - 1);
  put24(rgb.height_px - 1);
  body.insert(body.end(), plain.begin() + 12, plain.end());
  append(&body, "EXIF");
  put32(&body, static_cast<uint32_t>(exif.size()), false);
  body.insert(body.end(), exif.begin(), exif.end());
  if (exif.size() % 2 != 0) body.push_back(0);
  Bytes out;
  append(&out, "RIFF");
  put32(&out, static_cast<uint32_t>(body.size()), false);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

/// Uncompressed, one strip a page; `samples` interleaved, `bits` 8 or 16.
struct TiffPage {
  int width_px;
  int height_px;
  int samples;
  int bits;
  Bytes data;
};

inline Bytes tiff(const std::vector<TiffPage>& pages, int orientation = 1) {
  Bytes out;
  append(&out, "II");
  put16(&out, 42, false);
  put32(&out, 8, false);
  for (size_t i = 0; i < pages.size(); ++i) {
    const TiffPage& page = pages[i];
    constexpr uint32_t kEntries = 10;
    const auto start = static_cast<uint32_t>(out.size());
    const uint32_t bits_at = start + 2 + kEntries * 12 + 4;
    const uint32_t data_at = bits_at + 8;
    const auto data_bytes = static_cast<uint32_t>(page.data.size());
    const auto entry = [&](uint32_t tag, uint32_t type, uint32_t count, uint32_t value) {
      put16(&out, tag, false);
      put16(&out, type, false);
      put32(&out, count, false);
      put32(&out, value, false);
    };
    const auto samples = static_cast<uint32_t>(page.samples);
    put16(&out, kEntries, false);
    entry(256, 4, 1, static_cast<uint32_t>(page.width_px));
    entry(257, 4, 1, static_cast<uint32_t>(page.height_px));
    entry(258, 3, samples, samples > 2 ? bits_at : static_cast<uint32_t>(page.bits));
    entry(259, 3, 1, 1);
    entry(262, 3, 1, samples >= 3 ? 2 : 1);
    entry(273, 4, 1, data_at);
    entry(274, 3, 1, static_cast<uint32_t>(orientation));
    entry(277, 3, 1, samples);
    entry(278, 4, 1, static_cast<uint32_t>(page.height_px));
    entry(279, 4, 1, data_bytes);
    put32(&out, i + 1 < pages.size() ? data_at + (data_bytes + 1) / 2 * 2 : 0, false);
    for (int s = 0; s < 4; ++s) put16(&out, static_cast<uint32_t>(page.bits), false);
    out.insert(out.end(), page.data.begin(), page.data.end());
    if (data_bytes % 2 != 0) out.push_back(0);
  }
  return out;
}

inline Bytes tiff(const Rgb& rgb, int orientation = 1) {
  return tiff({{rgb.width_px, rgb.height_px, 3, 8, rgb.pixels}}, orientation);
}

/// 24 bits; a negative height in the header where rows run downwards.
inline Bytes bmp(const Rgb& rgb, bool top_down = false) {
  Bytes out;
  append(&out, "BM");
  const size_t row_bytes = (static_cast<size_t>(rgb.width_px) * 3 + 3) / 4 * 4;
  put32(&out, static_cast<uint32_t>(54 + row_bytes * static_cast<size_t>(rgb.height_px)), false);
  put32(&out, 0, false);
  put32(&out, 54, false);
  put32(&out, 40, false);
  put32(&out, static_cast<uint32_t>(rgb.width_px), false);
  put32(&out, static_cast<uint32_t>(top_down ? -rgb.height_px : rgb.height_px), false);
  put16(&out, 1, false);
  put16(&out, 24, false);
  for (int i = 0; i < 6; ++i) put32(&out, 0, false);
  for (int i = 0; i < rgb.height_px; ++i) {
    const int y = top_down ? i : rgb.height_px - 1 - i;
    for (int x = 0; x < rgb.width_px; ++x) {
      const uint8_t* pixel = rgb.at(x, y);
      out.insert(out.end(), {pixel[2], pixel[1], pixel[0]});
    }
    out.resize(out.size() + row_bytes - static_cast<size_t>(rgb.width_px) * 3, 0);
  }
  return out;
}

/// Gray ramp palette of 128 entries; a clear code before the codes would grow, so 8 bits each.
inline Bytes gif(int width_px, int height_px, const Bytes& indices) {
  Bytes out;
  append(&out, "GIF89a");
  put16(&out, static_cast<uint32_t>(width_px), false);
  put16(&out, static_cast<uint32_t>(height_px), false);
  out.insert(out.end(), {0x86, 0, 0});  // global table of 128 colours
  for (int i = 0; i < 128; ++i) out.insert(out.end(), 3, static_cast<uint8_t>(2 * i));
  out.push_back(0x2C);
  put32(&out, 0, false);
  put16(&out, static_cast<uint32_t>(width_px), false);
  put16(&out, static_cast<uint32_t>(height_px), false);
  out.insert(out.end(), {0, 7});
  Bytes codes;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i % 100 == 0) codes.push_back(128);
    codes.push_back(indices[i]);
  }
  codes.push_back(129);
  for (size_t i = 0; i < codes.size(); i += 255) {
    const size_t bytes = std::min<size_t>(255, codes.size() - i);
    out.push_back(static_cast<uint8_t>(bytes));
    out.insert(out.end(), codes.begin() + static_cast<long>(i),
               codes.begin() + static_cast<long>(i + bytes));
  }
  out.insert(out.end(), {0, 0x3B});
  return out;
}

/// `type` such as "|u1", `shape` such as "(4, 5, 3)".
inline Bytes npy(const std::string& type, const std::string& shape, const Bytes& data) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  Bytes out = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  put16(&out, static_cast<uint32_t>(header.size()), false);
  append(&out, header);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace yoload::decode::test
