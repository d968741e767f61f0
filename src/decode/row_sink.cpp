// SPDX-License-Identifier: Apache-2.0
#include "decode/row_sink.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "decode/row_kernels.h"

namespace yoload::decode {
namespace {

size_t padded(int width_px) {
  return (static_cast<size_t>(width_px) + 15) / 16 * 16;
}

// ITU-R BT.601 in 1/16384, the weights and rounding of OpenCV's colour to gray conversion.
uint8_t luma(int red, int green, int blue) {
  return static_cast<uint8_t>((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14);
}

}  // namespace

int bytes_per_pixel(Pixels layout) {
  constexpr std::array<int, 6> kBytes = {1, 2, 3, 4, 3, 4};
  return kBytes.at(static_cast<size_t>(layout));
}

size_t row_sink_bytes(int width_px, int channels) {
  return padded(width_px) * RowSink::kBlockRows * static_cast<size_t>(channels);
}

void RowSink::begin(MutableImageView upright, int orientation, int width_px, int height_px) {
  image_ = upright;
  target_ = {};
  orientation_ = orientation;
  width_px_ = width_px;
  height_px_ = height_px;
  rows_done_ = 0;
  block_stride_bytes_ = padded(width_px);
  const bool in_place = orientation == 1 || orientation == 4;
  if (!in_place) block_.resize(row_sink_bytes(width_px, image_.channels));
}

void RowSink::begin(const PixelTarget& target, int width_px, int height_px, int channels) {
  image_ = {};
  image_.width_px = width_px;
  image_.height_px = height_px;
  image_.channels = channels;
  target_ = target;
  orientation_ = 1;
  width_px_ = width_px;
  height_px_ = height_px;
  rows_done_ = 0;
  block_stride_bytes_ = padded(width_px);
  block_.resize(row_sink_bytes(width_px, channels));
}

uint8_t* RowSink::row(int channel, int y) {
  if (orientation_ == 1 && target_.data == nullptr) return image_.row(channel, y);
  if (orientation_ == 4) return image_.row(channel, height_px_ - 1 - y);
  return block_.data() +
         block_stride_bytes_ * static_cast<size_t>(channel * kBlockRows + y % kBlockRows);
}

void RowSink::commit(int y) {
  rows_done_ = y + 1;
  if (target_.data != nullptr) {
    put_into_target(y);
  } else if (orientation_ == 2 || orientation_ == 3) {
    place_row(y);
  } else if (orientation_ >= 5 && (rows_done_ % kBlockRows == 0 || rows_done_ == height_px_)) {
    const int first = y / kBlockRows * kBlockRows;
    transpose_block(first, rows_done_ - first);
  }
}

void RowSink::place_row(int y) {
  const int target = orientation_ == 2 ? y : height_px_ - 1 - y;
  for (int c = 0; c < image_.channels; ++c) mirror(row(c, y), width_px_, image_.row(c, target));
}

void RowSink::put_into_target(int y) {
  const auto width = static_cast<size_t>(width_px_);
  const auto height = static_cast<size_t>(height_px_);
  const auto channels = static_cast<size_t>(image_.channels);
  const auto place = static_cast<size_t>(y);
  if (target_.layout == PixelLayout::planar || channels == 1) {
    for (size_t c = 0; c < channels; ++c) {
      std::memcpy(target_.data + (c * height + place) * width, row(static_cast<int>(c), y), width);
    }
    return;
  }
  uint8_t* out = target_.data + place * width * channels;
  if (channels == 3) {
    merge_3({row(0, y), row(1, y), row(2, y)}, width_px_, out);
    return;
  }
  for (size_t c = 0; c < channels; ++c) {
    const uint8_t* in = row(static_cast<int>(c), y);
    for (size_t x = 0; x < width; ++x) out[x * channels + c] = in[x];
  }
}

// Stored row y becomes an upright column: x = y, or height - 1 - y for 6 and 7 (turned to the
// right). Stored column x becomes upright row x, or width - 1 - x for 7 and 8.
void RowSink::transpose_block(int first_row, int rows) {
  const bool reverse_columns = orientation_ == 6 || orientation_ == 7;
  const bool reverse_rows = orientation_ == 7 || orientation_ == 8;
  alignas(64) uint8_t tile[kBlockRows * kBlockRows];
  for (int c = 0; c < image_.channels; ++c) {
    uint8_t* block = row(c, 0);
    for (int x0 = 0; x0 < width_px_; x0 += kBlockRows) {
      transpose_16x16(block + x0, block_stride_bytes_, tile, kBlockRows);
      const int columns = std::min(kBlockRows, width_px_ - x0);
      for (int i = 0; i < columns; ++i) {
        const int target_y = reverse_rows ? width_px_ - 1 - (x0 + i) : x0 + i;
        uint8_t* source = tile + i * kBlockRows;
        uint8_t* target = image_.row(c, target_y);
        if (reverse_columns) {
          std::reverse(source, source + rows);
          target += height_px_ - first_row - rows;
        } else {
          target += first_row;
        }
        std::memcpy(target, source, static_cast<size_t>(rows));
      }
    }
  }
}

void RowSink::put(int y, const uint8_t* pixels, Pixels layout) {
  const bool gray = layout == Pixels::gray || layout == Pixels::gray_alpha;
  const int step = bytes_per_pixel(layout);
  const size_t width = static_cast<size_t>(width_px_);
  if (gray) {
    uint8_t* first = row(0, y);
    if (step == 1) {
      std::memcpy(first, pixels, width);
    } else {
      for (size_t x = 0; x < width; ++x) first[x] = pixels[2 * x];
    }
    for (int c = 1; c < image_.channels; ++c) std::memcpy(row(c, y), first, width);
  } else {
    const bool blue_first = layout == Pixels::bgr || layout == Pixels::bgra;
    if (image_.channels == 1) {
      uint8_t* out = row(0, y);
      const int red = blue_first ? 2 : 0;
      for (size_t x = 0; x < width; ++x, pixels += step) {
        out[x] = luma(pixels[red], pixels[1], pixels[2 - red]);
      }
    } else {
      uint8_t* red = row(blue_first ? 2 : 0, y);
      uint8_t* blue = row(blue_first ? 0 : 2, y);
      (step == 3 ? split_3 : split_4)(pixels, width_px_, red, row(1, y), blue);
    }
  }
  commit(y);
}

void RowSink::put_samples(int y, const uint8_t* pixels, int samples) {
  constexpr std::array<Pixels, 4> kLayouts = {Pixels::gray, Pixels::gray_alpha, Pixels::rgb,
                                              Pixels::rgba};
  const bool as_stored = samples == image_.channels && samples != 3;
  if (!as_stored) {
    put(y, pixels, kLayouts.at(static_cast<size_t>(samples - 1)));
    return;
  }
  for (int c = 0; c < samples; ++c) {
    uint8_t* out = row(c, y);
    for (int x = 0; x < width_px_; ++x) out[x] = pixels[x * samples + c];
  }
  commit(y);
}

void RowSink::blacken_rest() {
  for (int y = rows_done_; y < height_px_; ++y) {
    for (int c = 0; c < image_.channels; ++c) {
      std::memset(row(c, y), 0, static_cast<size_t>(width_px_));
    }
    commit(y);
  }
}

}  // namespace yoload::decode
