// Coefficients for the tests and benchmarks of the pixel half: read from files, or written into
// them, through libjpeg-turbo. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

#include "decode/jpeg/frame.h"
#include "decode/test_pictures.h"

namespace yoload::decode::test {

/// All coefficients of a picture, MCU row by MCU row as the entropy half hands them over.
struct Coefficients {
  jpeg::Frame frame;
  std::array<hwy::AlignedFreeUniquePtr<int16_t[]>, 3> blocks;
  std::array<Bytes, 3> last;

  jpeg::McuRow row(int mcu_y) const {
    jpeg::McuRow out;
    for (size_t c = 0; c < static_cast<size_t>(frame.components); ++c) {
      const jpeg::FrameComponent& component = frame.component.at(c);
      const size_t first = static_cast<size_t>(mcu_y * component.v * component.blocks_x);
      out.blocks.at(c) = blocks.at(c).get() + 64 * first;
      out.last.at(c) = last.at(c).data() + first;
    }
    return out;
  }
};

/// Zig-zag order to natural order (ITU-T T.81, figure A.6), from walking the diagonals.
inline std::array<int, 64> natural_order() {
  std::array<int, 64> order{};
  size_t next = 0;
  for (int sum = 0; sum < 15; ++sum) {
    for (int i = std::max(0, sum - 7); i <= std::min(sum, 7); ++i) {
      const int x = sum % 2 == 0 ? i : sum - i;
      order.at(next++) = (sum - x) * 8 + x;
    }
  }
  return order;
}

inline uint8_t last_coefficient(const int16_t* block) {
  static const std::array<int, 64> kOrder = natural_order();
  for (size_t k = 63; k > 0; --k) {
    if (block[kOrder.at(k)] != 0) return static_cast<uint8_t>(k);
  }
  return 0;
}

inline jpeg::Frame frame_of(const jpeg_decompress_struct& cinfo) {
  jpeg::Frame frame;
  frame.width_px = static_cast<int>(cinfo.image_width);
  frame.height_px = static_cast<int>(cinfo.image_height);
  frame.components = cinfo.num_components;
  frame.colour = cinfo.num_components == 1           ? jpeg::ColourModel::gray
                 : cinfo.jpeg_color_space == JCS_RGB ? jpeg::ColourModel::rgb
                                                     : jpeg::ColourModel::ycc;
  const bool gray = frame.components == 1;
  frame.max_h = gray ? 1 : cinfo.max_h_samp_factor;
  frame.max_v = gray ? 1 : cinfo.max_v_samp_factor;
  const auto over = [](int a, int b) { return (a + b - 1) / b; };
  frame.mcus_x = over(frame.width_px, 8 * frame.max_h);
  frame.mcus_y = over(frame.height_px, 8 * frame.max_v);
  for (int c = 0; c < frame.components; ++c) {
    const jpeg_component_info& from = cinfo.comp_info[c];
    jpeg::FrameComponent& to = frame.component.at(static_cast<size_t>(c));
    to.h = gray ? 1 : from.h_samp_factor;
    to.v = gray ? 1 : from.v_samp_factor;
    to.blocks_x = frame.mcus_x * to.h;
    to.blocks_y = frame.mcus_y * to.v;
    to.width = over(frame.width_px * to.h, frame.max_h);
    to.height = over(frame.height_px * to.v, frame.max_v);
    std::copy_n(from.quant_table->quantval, 64, to.quantisation.begin());
  }
  return frame;
}

inline Coefficients read_coefficients(const Bytes& file) {
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, file.data(), file.size());
  jpeg_read_header(&cinfo, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&cinfo);
  Coefficients out;
  out.frame = frame_of(cinfo);
  for (int c = 0; c < out.frame.components; ++c) {
    const auto i = static_cast<size_t>(c);
    const jpeg::FrameComponent& component = out.frame.component.at(i);
    const auto a_row = static_cast<size_t>(component.blocks_x);
    const size_t count = a_row * static_cast<size_t>(component.blocks_y);
    out.blocks.at(i) = hwy::AllocateAligned<int16_t>(count * 64);
    for (int y = 0; y < component.blocks_y; ++y) {
      JBLOCKARRAY from = cinfo.mem->access_virt_barray(
          reinterpret_cast<j_common_ptr>(&cinfo), arrays[c], static_cast<JDIMENSION>(y), 1, FALSE);
      std::memcpy(out.blocks.at(i).get() + static_cast<size_t>(y) * a_row * 64, from[0],
                  a_row * sizeof(JBLOCK));
    }
    out.last.at(i).resize(count);
    for (size_t b = 0; b < count; ++b) {
      out.last.at(i)[b] = last_coefficient(out.blocks.at(i).get() + 64 * b);
    }
  }
  jpeg_destroy_decompress(&cinfo);
  return out;
}

/// One picture's layout: sampling factors of its components.
struct Sampling {
  std::array<std::pair<int, int>, 3> hv{{{1, 1}, {1, 1}, {1, 1}}};
};

/// A file whose coefficients and quantisation tables (natural order) are what the two functions
/// fill in: coefficients within -1023..1023, the limits of the standard's tables.
inline Bytes jpeg_of_coefficients(int width_px, int height_px, J_COLOR_SPACE space,
                                  const Sampling& sampling,
                                  const std::function<void(uint16_t* table)>& fill_table,
                                  const std::function<void(int16_t* block)>& fill_block) {
  jpeg_compress_struct cinfo{};
  jpeg_error_mgr errors{};
  cinfo.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};  // remarks on coarse tables
  jpeg_create_compress(&cinfo);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&cinfo, &memory, &bytes);
  cinfo.image_width = static_cast<JDIMENSION>(width_px);
  cinfo.image_height = static_cast<JDIMENSION>(height_px);
  cinfo.input_components = space == JCS_GRAYSCALE ? 1 : 3;
  cinfo.in_color_space = space;
  jpeg_set_defaults(&cinfo);
  jpeg_set_colorspace(&cinfo, space);
  int max_h = 1;
  int max_v = 1;
  for (int c = 0; c < cinfo.num_components; ++c) {
    const auto [h, v] = sampling.hv.at(static_cast<size_t>(c));
    cinfo.comp_info[c].h_samp_factor = h;
    cinfo.comp_info[c].v_samp_factor = v;
    max_h = std::max(max_h, h);
    max_v = std::max(max_v, v);
    cinfo.comp_info[c].quant_tbl_no = c;
    if (cinfo.quant_tbl_ptrs[c] == nullptr) {
      cinfo.quant_tbl_ptrs[c] = jpeg_alloc_quant_table(reinterpret_cast<j_common_ptr>(&cinfo));
    }
    fill_table(cinfo.quant_tbl_ptrs[c]->quantval);
    cinfo.quant_tbl_ptrs[c]->sent_table = FALSE;
  }
  std::array<jvirt_barray_ptr, 3> arrays{};
  std::array<JDIMENSION, 3> rows{};
  std::array<JDIMENSION, 3> columns{};
  for (int c = 0; c < cinfo.num_components; ++c) {
    const auto i = static_cast<size_t>(c);
    const auto [h, v] = sampling.hv.at(i);
    columns.at(i) = static_cast<JDIMENSION>((width_px + 8 * max_h - 1) / (8 * max_h) * h);
    rows.at(i) = static_cast<JDIMENSION>((height_px + 8 * max_v - 1) / (8 * max_v) * v);
    arrays.at(i) =
        cinfo.mem->request_virt_barray(reinterpret_cast<j_common_ptr>(&cinfo), JPOOL_IMAGE, TRUE,
                                       columns.at(i), rows.at(i), static_cast<JDIMENSION>(v));
  }
  jpeg_write_coefficients(&cinfo, arrays.data());
  for (int c = 0; c < cinfo.num_components; ++c) {
    const auto i = static_cast<size_t>(c);
    for (JDIMENSION y = 0; y < rows.at(i); ++y) {
      JBLOCKARRAY to = cinfo.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&cinfo),
                                                     arrays.at(i), y, 1, TRUE);
      for (JDIMENSION x = 0; x < columns.at(i); ++x) fill_block(to[0][x]);
    }
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  Bytes out(memory, memory + bytes);
  free(memory);
  return out;
}

}  // namespace yoload::decode::test
