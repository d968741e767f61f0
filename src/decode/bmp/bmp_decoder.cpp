// BMP: all depths, run-length coding, bit fields, both row orders. The fourth byte of 32-bit pixels
// is dropped: most writers leave it undefined. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "decode/bmp/bmp_layout.h"
#include "decode/job.h"

namespace yoload::decode {
namespace {

struct RleEnd {
  Code code = Code::ok;
  const char* message = "";
};

// Draws runs into H,W palette indices, row 0 at the bottom. Pixels that no run touches stay 0.
class RleReader {
 public:
  RleReader(std::span<const uint8_t> data, const BmpLayout& layout, uint8_t* plane)
      : data_(data), layout_(layout), plane_(plane), four_bits_(layout.coding == BmpCoding::rle4) {}

  RleEnd read() {
    while (true) {
      if (at_ + 2 > data_.size()) {
        const bool complete =
            y_ >= layout_.height_px || (y_ == layout_.height_px - 1 && x_ >= layout_.width_px);
        return complete ? RleEnd{} : RleEnd{Code::truncated, "run-length data ends too early"};
      }
      const int count = data_[at_];
      const int value = data_[at_ + 1];
      at_ += 2;
      if (count > 0) {
        for (int i = 0; i < count; ++i) {
          if (!put(four_bits_ ? (i % 2 == 0 ? value >> 4 : value & 15) : value)) return outside();
        }
      } else if (value == 0) {
        x_ = 0;
        ++y_;
      } else if (value == 1) {
        return {};
      } else if (value == 2) {
        if (at_ + 2 > data_.size()) return {Code::truncated, "run-length data ends too early"};
        x_ += data_[at_];
        y_ += data_[at_ + 1];
        at_ += 2;
        if (x_ > layout_.width_px || y_ > layout_.height_px) return outside();
      } else if (RleEnd end = literal(value); end.code != Code::ok) {
        return end;
      }
    }
  }

 private:
  static RleEnd outside() { return {Code::corrupt, "a run leaves the picture"}; }

  bool put(int index) {
    if (x_ >= layout_.width_px || y_ >= layout_.height_px) return false;
    plane_[static_cast<size_t>(y_) * static_cast<size_t>(layout_.width_px) +
           static_cast<size_t>(x_++)] = static_cast<uint8_t>(index);
    return true;
  }

  RleEnd literal(int count) {
    const size_t bytes = static_cast<size_t>(four_bits_ ? (count + 1) / 2 : count);
    if (at_ + bytes > data_.size()) return {Code::truncated, "run-length data ends too early"};
    for (int i = 0; i < count; ++i) {
      const int byte = data_[at_ + static_cast<size_t>(four_bits_ ? i / 2 : i)];
      if (!put(four_bits_ ? (i % 2 == 0 ? byte >> 4 : byte & 15) : byte)) return outside();
    }
    at_ += bytes + bytes % 2;
    return {};
  }

  std::span<const uint8_t> data_;
  const BmpLayout& layout_;
  uint8_t* plane_;
  const bool four_bits_;
  size_t at_ = 0;
  int x_ = 0;
  int y_ = 0;
};

int index_at(const uint8_t* row, int x, int bits) {
  const int per_byte = 8 / bits;
  const int shift = 8 - bits * (x % per_byte + 1);
  return row[x / per_byte] >> shift & ((1 << bits) - 1);
}

void expand_indexed(const BmpLayout& layout, const uint8_t* row, int bits, uint8_t* rgb) {
  for (int x = 0; x < layout.width_px; ++x, rgb += 3) {
    const auto& colour = layout.colours[static_cast<size_t>(index_at(row, x, bits))];
    std::copy(colour.begin(), colour.end(), rgb);
  }
}

void expand_fields(const BmpLayout& layout, const uint8_t* row, uint8_t* rgb) {
  const int bytes = layout.bits / 8;
  for (int x = 0; x < layout.width_px; ++x, row += bytes) {
    uint32_t pixel = 0;
    for (int i = 0; i < bytes; ++i) pixel |= static_cast<uint32_t>(row[i]) << (8 * i);
    for (const BmpField& field : layout.fields) {
      const uint64_t value = (pixel & field.mask) >> field.shift;
      *rgb++ = field.max == 0 ? 0 : static_cast<uint8_t>((value * 255 + field.max / 2) / field.max);
    }
  }
}

class BmpRows {
 public:
  BmpRows(Job& job, const BmpLayout& layout) : job_(job), layout_(layout) {
    const size_t needed = static_cast<size_t>(layout.width_px) * 4 + kReadPadding;
    if (job.scratch.rows.size() < needed) job.scratch.rows.resize(needed);
  }

  void put(int y, const uint8_t* row, int bits) {
    uint8_t* rgb = job_.scratch.rows.data();
    if (bits <= 8) {
      expand_indexed(layout_, row, bits, rgb);
    } else if (bits == 24) {
      // Through the buffer, because vector loads may reach behind the row, and the file.
      std::memcpy(rgb, row, static_cast<size_t>(layout_.width_px) * 3);
      job_.sink.put(y, rgb, Pixels::bgr);
      return;
    } else {
      expand_fields(layout_, row, rgb);
    }
    job_.sink.put(y, rgb, Pixels::rgb);
  }

  void put_black(int y) {
    std::memset(job_.scratch.rows.data(), 0, static_cast<size_t>(layout_.width_px) * 3);
    job_.sink.put(y, job_.scratch.rows.data(), Pixels::rgb);
  }

 private:
  Job& job_;
  const BmpLayout& layout_;
};

Status decode_rle(Job& job, const BmpLayout& layout) {
  const size_t width = static_cast<size_t>(layout.width_px);
  std::vector<uint8_t> plane(width * static_cast<size_t>(layout.height_px), 0);
  const size_t start = std::min<size_t>(layout.pixels_start, job.bytes.size());
  const RleEnd end = RleReader(job.bytes.subspan(start), layout, plane.data()).read();
  if (end.code != Code::ok && !job.accepts_damage()) return fail(end.code, end.message);
  BmpRows rows(job, layout);
  for (int y = 0; y < layout.height_px; ++y) {
    rows.put(y, plane.data() + width * static_cast<size_t>(layout.height_px - 1 - y), 8);
    if (job.deadline.passed()) return time_refused(job.options.limits);
  }
  return end.code == Code::ok ? Status() : job.end_damaged(end.code, end.message);
}

// Rows stored bottom-up lose the top of the picture when the file is cut.
Status decode_plain(Job& job, const BmpLayout& layout) {
  const uint64_t pixel_bytes =
      (static_cast<uint64_t>(layout.width_px) * static_cast<uint64_t>(layout.bits) + 7) / 8;
  const uint64_t available =
      job.bytes.size() > layout.pixels_start ? job.bytes.size() - layout.pixels_start : 0;
  // The padding behind the last row may be missing.
  const uint64_t rows_there = std::min<uint64_t>(
      static_cast<uint64_t>(layout.height_px),
      available < pixel_bytes ? 0 : (available - pixel_bytes) / layout.row_bytes + 1);
  const bool whole = rows_there == static_cast<uint64_t>(layout.height_px);
  const std::string message =
      fmt::format("pixels of {} of {} rows are there", rows_there, layout.height_px);
  if (!whole && (rows_there == 0 || !job.accepts_damage())) return fail(Code::truncated, message);
  BmpRows rows(job, layout);
  for (int y = 0; y < layout.height_px; ++y) {
    const uint64_t stored = static_cast<uint64_t>(layout.top_down ? y : layout.height_px - 1 - y);
    if (stored < rows_there) {
      rows.put(y, job.bytes.data() + layout.pixels_start + stored * layout.row_bytes, layout.bits);
    } else {
      rows.put_black(y);
    }
    if (job.deadline.passed()) return time_refused(job.options.limits);
  }
  if (!whole) return job.end_damaged(Code::truncated, message);
  if (available < layout.row_bytes * static_cast<uint64_t>(layout.height_px)) {
    job.warn("the padding behind the last row is missing");
  }
  return {};
}

}  // namespace

Status decode_bmp(Job& job) {
  if (job.options.channels != 1 && job.options.channels != 3) {
    return fail(Code::unsupported, fmt::format("a BMP has no {} channels", job.options.channels));
  }
  MemorySource source(job.bytes);
  BmpLayout layout;
  if (Status status = read_bmp_layout(source, &layout); !status.ok()) return status;
  const bool rle = layout.coding != BmpCoding::plain;
  // Told before memory is touched: a header alone may promise gigabytes.
  if (layout.pixels_start >= job.bytes.size()) return fail(Code::truncated, "BMP without pixels");
  const size_t plane_bytes =
      rle ? static_cast<size_t>(layout.width_px) * static_cast<size_t>(layout.height_px) : 0;
  if (Status refused = job.begin_picture(layout.width_px, layout.height_px, job.options.channels,
                                         plane_bytes + static_cast<size_t>(layout.width_px) * 4);
      !refused.ok()) {
    return refused;
  }
  return rle ? decode_rle(job, layout) : decode_plain(job, layout);
}

}  // namespace yoload::decode
