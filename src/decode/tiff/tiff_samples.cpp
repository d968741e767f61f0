// SPDX-License-Identifier: Apache-2.0
#include "decode/tiff/tiff_samples.h"

#include <algorithm>
#include <cstring>

namespace yoload::decode {
namespace {

// Real tiles are 64 to 4096; a bound keeps the memory estimate free of overflow.
constexpr uint32_t kMaxTilePx = 65536;

}  // namespace

TiffSamples::TiffSamples(TiffFile& file) : file_(file) {
  width_px_ = file.tag32(TIFFTAG_IMAGEWIDTH, 0);
  height_px_ = file.tag32(TIFFTAG_IMAGELENGTH, 0);
  samples_ = file.tag16(TIFFTAG_SAMPLESPERPIXEL, 1);
  bits_ = file.tag16(TIFFTAG_BITSPERSAMPLE, 1);
  const uint16_t photometric = file.tag16(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  const uint16_t format = file.tag16(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  separate_ = file.tag16(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE &&
              samples_ > 1;
  inverted_ = photometric == PHOTOMETRIC_MINISWHITE;
  const bool gray = inverted_ || photometric == PHOTOMETRIC_MINISBLACK;
  const bool rgb = photometric == PHOTOMETRIC_RGB && samples_ >= 3;
  tiled_ = TIFFIsTiled(file.get()) != 0;
  if (tiled_) {
    block_width_px_ = file.tag32(TIFFTAG_TILEWIDTH, 0);
    block_height_px_ = file.tag32(TIFFTAG_TILELENGTH, 0);
  } else {
    block_width_px_ = width_px_;
    block_height_px_ = std::min(file.tag32(TIFFTAG_ROWSPERSTRIP, height_px_), height_px_);
  }
  suits_ = (bits_ == 8 || bits_ == 16) && format == SAMPLEFORMAT_UINT && (gray || rgb) &&
           samples_ >= 1 && samples_ <= 64 && block_width_px_ > 0 && block_height_px_ > 0 &&
           (!tiled_ || (block_width_px_ <= kMaxTilePx && block_height_px_ <= kMaxTilePx));
}

uint64_t TiffSamples::working_bytes() const {
  const uint64_t bytes = static_cast<uint64_t>(samples_) * static_cast<uint64_t>(bits_ / 8);
  const uint64_t rows = std::min(block_height_px_, height_px_);
  return rows * width_px_ * bytes + uint64_t{block_height_px_} * block_width_px_ * bytes;
}

int TiffSamples::read(const std::function<bool(int y, const uint8_t* row)>& row) {
  const size_t pixel_bytes = static_cast<size_t>(samples_) * static_cast<size_t>(bits_ / 8);
  const size_t row_bytes = width_px_ * pixel_bytes;
  const uint32_t band_rows = std::min(block_height_px_, height_px_);
  band_.resize(band_rows * row_bytes + 64);
  block_.resize(
      static_cast<size_t>(tiled_ ? TIFFTileSize(file_.get()) : TIFFStripSize(file_.get())));
  for (uint32_t first = 0; first < height_px_; first += band_rows) {
    const uint32_t rows = std::min(band_rows, height_px_ - first);
    if (!read_band(first, rows)) return static_cast<int>(first);
    if (inverted_) {
      for (size_t i = 0; i < rows * row_bytes; ++i) band_[i] = static_cast<uint8_t>(~band_[i]);
    }
    for (uint32_t i = 0; i < rows; ++i) {
      if (!row(static_cast<int>(first + i), band_.data() + i * row_bytes)) {
        return static_cast<int>(first + i);
      }
    }
  }
  return static_cast<int>(height_px_);
}

bool TiffSamples::read_band(uint32_t first_row, uint32_t rows) {
  const uint32_t planes = separate_ ? static_cast<uint32_t>(samples_) : 1;
  for (uint32_t plane = 0; plane < planes; ++plane) {
    for (uint32_t x = 0; x < width_px_; x += block_width_px_) {
      const uint32_t columns = std::min(block_width_px_, width_px_ - x);
      if (!read_block(x, first_row, plane, columns, rows)) return false;
    }
  }
  return true;
}

bool TiffSamples::read_block(uint32_t x, uint32_t y, uint32_t plane, uint32_t columns,
                             uint32_t rows) {
  TIFF* tiff = file_.get();
  const size_t sample_bytes = static_cast<size_t>(bits_ / 8);
  const size_t pixel_bytes = static_cast<size_t>(samples_) * sample_bytes;
  const size_t block_pixel_bytes = separate_ ? sample_bytes : pixel_bytes;
  const size_t block_row_bytes = block_width_px_ * block_pixel_bytes;
  const auto room = static_cast<tmsize_t>(block_.size());
  const auto sample = static_cast<uint16_t>(plane);
  const tmsize_t got =
      tiled_
          ? TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, sample), block_.data(), room)
          : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, sample), block_.data(), room);
  if (got < 0 ||
      static_cast<size_t>(got) < (rows - 1) * block_row_bytes + columns * block_pixel_bytes) {
    return false;
  }
  const size_t band_row_bytes = width_px_ * pixel_bytes;
  for (uint32_t i = 0; i < rows; ++i) {
    const uint8_t* source = block_.data() + i * block_row_bytes;
    uint8_t* target = band_.data() + i * band_row_bytes + x * pixel_bytes + plane * sample_bytes;
    if (!separate_) {
      std::memcpy(target, source, columns * pixel_bytes);
      continue;
    }
    for (uint32_t j = 0; j < columns; ++j, source += sample_bytes, target += pixel_bytes) {
      std::memcpy(target, source, sample_bytes);
    }
  }
  return true;
}

}  // namespace yoload::decode
