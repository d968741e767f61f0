// Vectorised work on single rows: interleaved to planar and back, YCbCr to RGB, mirror, transpose.
//
// Every function has a plain twin in `scalar` that is obviously right; the tests compare the two.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace yoload::decode {

/// One row of each of three planes.
struct ConstRows {
  const uint8_t* first;
  const uint8_t* second;
  const uint8_t* third;
};
struct Rows {
  uint8_t* first;
  uint8_t* second;
  uint8_t* third;
};

/// Interleaved triples to three planes. `pixels` has 3 * width bytes; planes may not overlap it.
void split_3(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third);
/// Interleaved quadruples to three planes; the fourth byte is dropped.
void split_4(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third);

/// Three planes to interleaved triples: 3 * width bytes that may not overlap the planes.
void merge_3(const ConstRows& planes, int width_px, uint8_t* pixels);

/// Y, Cb, Cr to R, G, B, bit-identical to libjpeg (its 16-bit fixed-point tables of ITU-T T.871).
/// All rows must be padded to a multiple of 16 bytes; the padding is converted too.
void ycc_to_rgb(int width_px, const ConstRows& ycc, const Rows& rgb);

/// Copies a row back to front. Not vectorised: mirrored files are rare.
void mirror(const uint8_t* row, int width_px, uint8_t* out);

/// out[x][y] = in[y][x] for 16 x 16 bytes.
void transpose_16x16(const uint8_t* in, size_t in_stride_bytes, uint8_t* out,
                     size_t out_stride_bytes);

namespace scalar {
void split_3(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third);
void split_4(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third);
void merge_3(const ConstRows& planes, int width_px, uint8_t* pixels);
void ycc_to_rgb(int width_px, const ConstRows& ycc, const Rows& rgb);
}  // namespace scalar

}  // namespace yoload::decode
