// SPDX-License-Identifier: Apache-2.0
#include "decode/npy/npy_layout.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

constexpr uint32_t kMaxHeaderBytes = 4096;
constexpr int kMaxChannels = 64;

// The text behind "'key':", white space removed; empty when the key is missing.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const std::string quoted = fmt::format("'{}'", key);
  const size_t found = dictionary.find(quoted);
  if (found == std::string_view::npos) return {};
  const size_t start = dictionary.find_first_not_of(" :", found + quoted.size());
  return start == std::string_view::npos ? std::string_view() : dictionary.substr(start);
}

std::vector<int> parse_shape(std::string_view text) {
  std::vector<int> shape;
  if (!text.starts_with('(')) return shape;
  text = text.substr(1, text.find(')') == std::string_view::npos ? 0 : text.find(')') - 1);
  while (true) {
    const size_t digit = text.find_first_not_of(" ,");
    if (digit == std::string_view::npos || shape.size() > 3) return shape;
    text.remove_prefix(digit);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) return {};
    shape.push_back(value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

}  // namespace

Status read_npy_layout(ByteSource& source, NpyLayout* layout) {
  uint32_t version = 0;
  uint32_t header_bytes = 0;
  if (!source.u8(6, &version) ||
      !(version == 1 ? source.u16(8, false, &header_bytes) : source.u32(8, false, &header_bytes))) {
    return fail(Code::truncated, "NPY ends inside its header");
  }
  const uint64_t start = version == 1 ? 10 : 12;
  if (header_bytes > kMaxHeaderBytes) return fail(Code::corrupt, "NPY with a huge header");
  std::string header(header_bytes, '\0');
  if (!source.read(start, {reinterpret_cast<uint8_t*>(header.data()), header.size()})) {
    return fail(Code::truncated, "NPY ends inside its header");
  }
  const std::string_view type = value_of(header, "descr");
  if (type.starts_with("'|u1'") || type.starts_with("'u1'")) {
    layout->bits = 8;
  } else if (type.starts_with("'<u2'") || type.starts_with("'>u2'")) {
    layout->bits = 16;
    layout->big_endian = type[1] == '>';
  } else {
    return fail(Code::unsupported,
                fmt::format("NPY of type {}: pictures are uint8 or uint16", type.substr(0, 8)));
  }
  if (!value_of(header, "fortran_order").starts_with("False")) {
    return fail(Code::unsupported, "NPY in Fortran order");
  }
  const std::vector<int> shape = parse_shape(value_of(header, "shape"));
  if (shape.size() != 2 && shape.size() != 3) {
    return fail(Code::unsupported,
                fmt::format("NPY with {} dimensions: pictures are H,W or H,W,C", shape.size()));
  }
  layout->height_px = shape[0];
  layout->width_px = shape[1];
  layout->channels = shape.size() == 3 ? shape[2] : 1;
  if (layout->channels < 1 || layout->channels > kMaxChannels) {
    return fail(Code::unsupported, fmt::format("NPY with {} channels", layout->channels));
  }
  layout->data_start = start + header_bytes;
  return {};
}

Status read_npy_header(ByteSource& source, ImageInfo* info) {
  NpyLayout layout;
  if (Status status = read_npy_layout(source, &layout); !status.ok()) return status;
  info->width_px = layout.width_px;
  info->height_px = layout.height_px;
  info->channels = layout.channels;
  info->bits = layout.bits;
  return {};
}

}  // namespace yoload::decode
