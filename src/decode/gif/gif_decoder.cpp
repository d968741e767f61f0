// GIF: the first picture, placed on its screen; transparent pixels keep their palette colour.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "decode/gif/gif_layout.h"
#include "decode/job.h"

namespace yoload::decode {
namespace {

constexpr int kMaxCodes = 4096;
constexpr int kMaxCodeBits = 12;

// Bits of a chain of sub-blocks, lowest first.
class CodeStream {
 public:
  CodeStream(std::span<const uint8_t> data, size_t at) : data_(data), at_(at) {}

  // -1 at the end of the data.
  int next(int bits) {
    while (bit_count_ < bits) {
      if (block_left_ == 0) {
        if (at_ >= data_.size() || data_[at_] == 0) return -1;
        block_left_ = data_[at_++];
      }
      if (at_ >= data_.size()) return -1;
      bits_ |= static_cast<uint32_t>(data_[at_++]) << bit_count_;
      bit_count_ += 8;
      --block_left_;
    }
    const int code = static_cast<int>(bits_ & ((1U << bits) - 1));
    bits_ >>= bits;
    bit_count_ -= bits;
    return code;
  }

 private:
  std::span<const uint8_t> data_;
  size_t at_;
  size_t block_left_ = 0;
  uint32_t bits_ = 0;
  int bit_count_ = 0;
};

struct LzwEnd {
  size_t pixels = 0;
  bool bad_code = false;
};

// Every string is its prefix and one more byte; strings are written back to front, so no string is
// ever stored and the work is bounded by the pixels.
LzwEnd read_lzw(CodeStream& stream, int code_size, std::span<uint8_t> out) {
  const int clear = 1 << code_size;
  const int end = clear + 1;
  std::array<uint16_t, kMaxCodes> prefix{};
  std::array<uint8_t, kMaxCodes> last{};
  std::array<uint16_t, kMaxCodes> length{};
  for (int i = 0; i < clear; ++i) {
    last[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
    length[static_cast<size_t>(i)] = 1;
  }
  int bits = code_size + 1;
  int next = end + 1;
  int previous = -1;
  size_t done = 0;
  while (done < out.size()) {
    const int code = stream.next(bits);
    if (code < 0 || code == end) break;
    if (code == clear) {
      bits = code_size + 1;
      next = end + 1;
      previous = -1;
      continue;
    }
    if (code > next || (code == next && previous < 0) || (previous < 0 && code > clear)) {
      return {done, true};
    }
    // A code that is only now being defined: the previous string and its own first byte.
    const bool is_new = code == next;
    if (is_new && next >= kMaxCodes) return {done, true};
    const int shown = is_new ? previous : code;
    const size_t string_bytes = length[static_cast<size_t>(shown)];
    size_t position = done + string_bytes;
    int walk = shown;
    uint8_t first = 0;
    while (position > done) {
      --position;
      first = last[static_cast<size_t>(walk)];
      if (position < out.size()) out[position] = first;
      walk = prefix[static_cast<size_t>(walk)];
    }
    done += string_bytes;
    if (is_new && done < out.size()) out[done] = first;
    if (is_new) ++done;
    if (previous >= 0 && next < kMaxCodes) {
      prefix[static_cast<size_t>(next)] = static_cast<uint16_t>(previous);
      last[static_cast<size_t>(next)] = first;
      length[static_cast<size_t>(next)] =
          static_cast<uint16_t>(length[static_cast<size_t>(previous)] + 1);
      ++next;
      if (next == 1 << bits && bits < kMaxCodeBits) ++bits;
    }
    previous = code;
  }
  return {std::min(done, out.size()), false};
}

// Row of the picture that the i-th stored row shows (GIF89a appendix E: four passes).
std::vector<int> interlaced_order(int rows) {
  std::vector<int> order;
  order.reserve(static_cast<size_t>(rows));
  constexpr std::array<std::array<int, 2>, 4> kPasses = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  for (const auto& [first, step] : kPasses) {
    for (int y = first; y < rows; y += step) order.push_back(y);
  }
  return order;
}

void put_rows(Job& job, const GifLayout& layout, std::span<const uint8_t> indices) {
  std::vector<size_t> stored_row(static_cast<size_t>(layout.height_px));
  for (size_t i = 0; i < stored_row.size(); ++i) stored_row[i] = i;
  if (layout.interlaced) {
    const std::vector<int> order = interlaced_order(layout.height_px);
    for (size_t i = 0; i < order.size(); ++i) stored_row[static_cast<size_t>(order[i])] = i;
  }
  std::vector<uint8_t>& rgb = job.scratch.rows;
  const size_t needed = static_cast<size_t>(layout.canvas_width_px) * 3 + kReadPadding;
  if (rgb.size() < needed) rgb.resize(needed);
  for (int y = 0; y < layout.canvas_height_px; ++y) {
    for (int x = 0; x < layout.canvas_width_px; ++x) {
      std::copy(layout.background.begin(), layout.background.end(), rgb.begin() + 3 * x);
    }
    const int inside_y = y - layout.y_px;
    if (inside_y >= 0 && inside_y < layout.height_px) {
      const uint8_t* row = indices.data() + stored_row[static_cast<size_t>(inside_y)] *
                                                static_cast<size_t>(layout.width_px);
      for (int x = 0; x < layout.width_px; ++x) {
        const auto& colour = layout.colours[row[x]];
        std::copy(colour.begin(), colour.end(), rgb.begin() + 3 * (layout.x_px + x));
      }
    }
    job.sink.put(y, rgb.data(), Pixels::rgb);
  }
}

constexpr uint32_t kExtension = 0x21;
constexpr uint32_t kTrailer = 0x3B;

// Is the file whole behind its first picture? Only a cut file matters; further frames are not read.
bool ends_properly(MemorySource& source, uint64_t at) {
  if (!skip_sub_blocks(source, &at)) return false;
  uint32_t block = 0;
  while (source.u8(at, &block)) {
    if (block != kExtension) return block == kTrailer || source.u8(source.size() - 1, &block);
    at += 2;
    if (!skip_sub_blocks(source, &at)) return false;
  }
  return false;
}

}  // namespace

Status decode_gif(Job& job) {
  if (job.options.channels != 1 && job.options.channels != 3) {
    return fail(Code::unsupported, fmt::format("a GIF has no {} channels", job.options.channels));
  }
  MemorySource source(job.bytes);
  GifLayout layout;
  if (Status status = read_gif_layout(source, &layout); !status.ok()) return status;
  uint32_t code_size = 0;
  if (!source.u8(layout.data_start, &code_size)) return fail(Code::truncated, "GIF without pixels");
  if (code_size < 1 || code_size > 8) {
    return fail(Code::corrupt, fmt::format("GIF with a code size of {}", code_size));
  }
  const size_t pixels =
      static_cast<size_t>(layout.width_px) * static_cast<size_t>(layout.height_px);
  // One code of 12 bits yields at most 4096 pixels: a header that promises more is refused before
  // any memory is taken.
  if (pixels / kMaxCodes > job.bytes.size()) return fail(Code::truncated, "GIF with too few bytes");
  if (Status refused = job.begin_picture(layout.canvas_width_px, layout.canvas_height_px,
                                         job.options.channels, pixels);
      !refused.ok()) {
    return refused;
  }
  std::vector<uint8_t> indices(pixels, 0);
  CodeStream stream(job.bytes, layout.data_start + 1);
  const LzwEnd end = read_lzw(stream, static_cast<int>(code_size), indices);
  const bool whole = end.pixels == pixels && !end.bad_code;
  const Code code = end.bad_code ? Code::corrupt : Code::truncated;
  const std::string message = fmt::format("GIF stops after {} of {} pixels", end.pixels, pixels);
  if (!whole && (!job.accepts_damage() || end.pixels == 0)) return fail(code, message);
  if (job.deadline.passed()) return time_refused(job.options.limits);
  put_rows(job, layout, indices);
  if (!whole) return job.end_damaged(code, message);
  if (!ends_properly(source, layout.data_start + 1)) {
    job.warn("all pixels are there, but the file has no end marker");
  }
  return {};
}

}  // namespace yoload::decode
