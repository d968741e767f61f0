// JPEGs of every kind that a GPU decoder might treat differently, for the probe.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "decode/cuda/test_device_pictures.h"

namespace yoload::decode::test {

struct ProbeCase {
  std::string name;
  Bytes bytes;
};

/// An encoder that leaves every setting to `setup`, called after the defaults are set.
template <class Setup>
Bytes jpeg_with(const Rgb& rgb, Setup setup) {
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
  jpeg_set_quality(&cinfo, 90, TRUE);
  setup(cinfo);
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

inline void set_sampling(jpeg_compress_struct& cinfo, const int (&factors)[3][2]) {
  for (int c = 0; c < 3; ++c) {
    cinfo.comp_info[c].h_samp_factor = factors[c][0];
    cinfo.comp_info[c].v_samp_factor = factors[c][1];
  }
}

inline std::vector<ProbeCase> probe_cases() {
  std::vector<ProbeCase> cases;
  const auto add = [&](const std::string& name, int width_px, int height_px, auto setup) {
    const std::string size = std::to_string(width_px) + "x" + std::to_string(height_px);
    cases.push_back({name + " " + size, jpeg_with(busy_picture(width_px, height_px), setup)});
  };
  struct Sampling {
    const char* name;
    int factors[3][2];
  };
  const Sampling kPlain[] = {
      {"4:4:4", {{1, 1}, {1, 1}, {1, 1}}}, {"4:2:2", {{2, 1}, {1, 1}, {1, 1}}},
      {"4:2:0", {{2, 2}, {1, 1}, {1, 1}}}, {"4:4:0", {{1, 2}, {1, 1}, {1, 1}}},
      {"4:1:1", {{4, 1}, {1, 1}, {1, 1}}}, {"4:1:0", {{4, 2}, {1, 1}, {1, 1}}}};
  const std::pair<int, int> kSizes[] = {{640, 427}, {321, 213}, {65, 64}, {33, 17},
                                        {16, 16},   {8, 8},     {5, 5},   {3, 40},
                                        {1, 1},     {1, 64},    {64, 1},  {2, 2}};
  for (const auto& [width, height] : kSizes) {
    for (const Sampling& sampling : kPlain) {
      add(sampling.name, width, height,
          [&](auto& cinfo) { set_sampling(cinfo, sampling.factors); });
    }
    add("gray", width, height, [](auto& cinfo) { jpeg_set_colorspace(&cinfo, JCS_GRAYSCALE); });
  }
  for (const int interval : {1, 2, 7, 8, 40, 1000}) {
    for (const Sampling& sampling : {kPlain[0], kPlain[2]}) {
      add("restart " + std::to_string(interval) + " " + sampling.name, 321, 213, [&](auto& cinfo) {
        set_sampling(cinfo, sampling.factors);
        cinfo.restart_interval = static_cast<unsigned>(interval);
      });
    }
  }
  for (const auto& [width, height] : {std::pair{640, 427}, {33, 17}, {1, 1}}) {
    for (const Sampling& sampling : kPlain) {
      add(std::string("progressive ") + sampling.name, width, height, [&](auto& cinfo) {
        set_sampling(cinfo, sampling.factors);
        jpeg_simple_progression(&cinfo);
      });
    }
    add("progressive gray", width, height, [](auto& cinfo) {
      jpeg_set_colorspace(&cinfo, JCS_GRAYSCALE);
      jpeg_simple_progression(&cinfo);
    });
  }
  const Sampling kUnusual[] = {{"4:2:2 as 2x2 1x2 1x2", {{2, 2}, {1, 2}, {1, 2}}},
                               {"4:4:4 as 3x1 3x1 3x1", {{3, 1}, {3, 1}, {3, 1}}},
                               {"2x2 2x1 1x1", {{2, 2}, {2, 1}, {1, 1}}},
                               {"1x4 1x1 1x1", {{1, 4}, {1, 1}, {1, 1}}},
                               {"2x4 1x1 1x1", {{2, 4}, {1, 1}, {1, 1}}},
                               {"chroma finer 1x1 2x2 2x2", {{1, 1}, {2, 2}, {2, 2}}}};
  for (const Sampling& sampling : kUnusual) {
    add(sampling.name, 321, 213, [&](auto& cinfo) { set_sampling(cinfo, sampling.factors); });
  }
  add("gray with factors 2x2", 321, 213, [](auto& cinfo) {
    jpeg_set_colorspace(&cinfo, JCS_GRAYSCALE);
    cinfo.comp_info[0].h_samp_factor = cinfo.comp_info[0].v_samp_factor = 2;
  });
  add("RGB, Adobe transform 0", 321, 213, [](auto& cinfo) {
    jpeg_set_colorspace(&cinfo, JCS_RGB);
    cinfo.write_Adobe_marker = TRUE;
    for (int c = 0; c < 3; ++c) cinfo.comp_info[c].component_id = c + 1;
  });
  add("RGB by component names alone", 321, 213, [](auto& cinfo) {
    jpeg_set_colorspace(&cinfo, JCS_RGB);
    cinfo.write_Adobe_marker = FALSE;
  });
  add("YCbCr, Adobe transform 1", 321, 213, [](auto& cinfo) {
    cinfo.write_JFIF_header = FALSE;
    cinfo.write_Adobe_marker = TRUE;
  });
  add("YCbCr without JFIF and Adobe", 321, 213,
      [](auto& cinfo) { cinfo.write_JFIF_header = FALSE; });
  add("components named 0 1 2", 321, 213, [](auto& cinfo) {
    cinfo.write_JFIF_header = FALSE;
    for (int c = 0; c < 3; ++c) cinfo.comp_info[c].component_id = c;
  });
  add("own Huffman tables 4:2:0", 640, 427, [&](auto& cinfo) { cinfo.optimize_coding = TRUE; });
  add("own Huffman tables 4:4:4", 640, 427, [&](auto& cinfo) {
    cinfo.optimize_coding = TRUE;
    set_sampling(cinfo, kPlain[0].factors);
  });
  add("quality 100", 640, 427, [](auto& cinfo) { jpeg_set_quality(&cinfo, 100, TRUE); });
  add("quality 5", 640, 427, [](auto& cinfo) { jpeg_set_quality(&cinfo, 5, TRUE); });
  add("16-bit quantisation tables", 321, 213,
      [](auto& cinfo) { jpeg_set_quality(&cinfo, 1, FALSE); });
  add("one scan per component", 321, 213, [](auto& cinfo) {
    static const jpeg_scan_info kScans[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    cinfo.scan_info = kScans;
    cinfo.num_scans = 3;
  });
  for (const auto& [width, height] : {std::pair{4096, 2160},
                                      {8192, 64},
                                      {64, 8192},
                                      {16384, 16},
                                      {16, 16384},
                                      {16400, 16},
                                      {16, 16400},
                                      {32768, 8},
                                      {8, 32768},
                                      {65500, 8},
                                      {8, 65500}}) {
    add("large 4:2:0", width, height, [](auto&) {});
    add("large 4:4:4", width, height, [&](auto& cinfo) { set_sampling(cinfo, kPlain[0].factors); });
  }
  // Odd around the coded data.
  const Bytes plain = jpeg_with(busy_picture(321, 213), [](auto&) {});
  const auto change = [&](const std::string& name, auto edit) {
    Bytes bytes = plain;
    edit(bytes);
    cases.push_back({name, bytes});
  };
  change("bytes behind the end marker", [](Bytes& b) { b.resize(b.size() + 5000, 0x41); });
  change("no end marker", [](Bytes& b) { b.resize(b.size() - 2); });
  change("3 bytes before the end marker", [](Bytes& b) { b.insert(b.end() - 2, {1, 2, 3}); });
  change("fill bytes before the end marker", [](Bytes& b) { b.insert(b.end() - 2, 4, 0xFF); });
  change("cut at 70 %", [](Bytes& b) { b.resize(b.size() * 7 / 10); });
  change("cut at 70 %, end marker appended", [](Bytes& b) {
    b.resize(b.size() * 7 / 10);
    b.insert(b.end(), {0xFF, 0xD9});
  });
  change("one bit flipped in the middle", [](Bytes& b) { b[b.size() / 2] ^= 0x10; });
  change("500 bytes overwritten with 0x55", [](Bytes& b) {
    std::fill_n(b.begin() + static_cast<long>(b.size() / 2), 500, uint8_t{0x55});
  });
  return cases;
}

}  // namespace yoload::decode::test
