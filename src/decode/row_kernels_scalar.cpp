// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "decode/row_kernels.h"

namespace yoload::decode::scalar {
namespace {

uint8_t clamp_byte(int value) {
  return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

template <int kStep>
void split(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  for (int x = 0; x < width_px; ++x) {
    first[x] = pixels[kStep * x];
    second[x] = pixels[kStep * x + 1];
    third[x] = pixels[kStep * x + 2];
  }
}

}  // namespace

void split_3(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  split<3>(pixels, width_px, first, second, third);
}

void split_4(const uint8_t* pixels, int width_px, uint8_t* first, uint8_t* second, uint8_t* third) {
  split<4>(pixels, width_px, first, second, third);
}

void merge_3(const ConstRows& planes, int width_px, uint8_t* pixels) {
  for (int x = 0; x < width_px; ++x) {
    pixels[3 * x] = planes.first[x];
    pixels[3 * x + 1] = planes.second[x];
    pixels[3 * x + 2] = planes.third[x];
  }
}

void ycc_to_rgb(int width_px, const ConstRows& ycc, const Rows& rgb) {
  // 1.402, 0.344136, 0.714136 and 1.772, in 1/65536.
  constexpr int kRedFromCr = 91881;
  constexpr int kGreenFromCb = -22554;
  constexpr int kGreenFromCr = -46802;
  constexpr int kBlueFromCb = 116130;
  constexpr int kHalf = 32768;
  for (int x = 0; x < width_px; ++x) {
    const int y = ycc.first[x];
    const int cb = ycc.second[x] - 128;
    const int cr = ycc.third[x] - 128;
    rgb.first[x] = clamp_byte(y + ((kRedFromCr * cr + kHalf) >> 16));
    rgb.second[x] = clamp_byte(y + ((kGreenFromCb * cb + kGreenFromCr * cr + kHalf) >> 16));
    rgb.third[x] = clamp_byte(y + ((kBlueFromCb * cb + kHalf) >> 16));
  }
}

}  // namespace yoload::decode::scalar
