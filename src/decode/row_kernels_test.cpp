// SPDX-License-Identifier: Apache-2.0
#include "decode/row_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace yoload::decode {
namespace {

using Plane = std::vector<uint8_t>;

Plane noise(size_t bytes, uint32_t seed) {
  std::mt19937 generator(seed);
  Plane out(bytes);
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(generator());
  return out;
}

TEST(YccToRgb, EqualsTheScalarTwinForEveryPossibleColour) {
  constexpr int kWidth = 256;
  Plane y(kWidth), cb(kWidth), cr(kWidth);
  Plane fast[3] = {Plane(kWidth), Plane(kWidth), Plane(kWidth)};
  Plane slow[3] = {Plane(kWidth), Plane(kWidth), Plane(kWidth)};
  std::iota(cr.begin(), cr.end(), uint8_t{0});
  for (int luma = 0; luma < 256; ++luma) {
    std::fill(y.begin(), y.end(), static_cast<uint8_t>(luma));
    for (int blue = 0; blue < 256; ++blue) {
      std::fill(cb.begin(), cb.end(), static_cast<uint8_t>(blue));
      const ConstRows ycc{y.data(), cb.data(), cr.data()};
      ycc_to_rgb(kWidth, ycc, {fast[0].data(), fast[1].data(), fast[2].data()});
      scalar::ycc_to_rgb(kWidth, ycc, {slow[0].data(), slow[1].data(), slow[2].data()});
      for (int c = 0; c < 3; ++c) ASSERT_EQ(fast[c], slow[c]) << "Y " << luma << " Cb " << blue;
    }
  }
}

TEST(YccToRgb, WritesNothingBehindThePaddedRow) {
  for (int width = 1; width < 200; ++width) {
    const size_t padded = (static_cast<size_t>(width) + 15) / 16 * 16;
    const Plane in = noise(padded, static_cast<uint32_t>(width));
    Plane out[3] = {Plane(padded + 64, 77), Plane(padded + 64, 77), Plane(padded + 64, 77)};
    ycc_to_rgb(width, {in.data(), in.data(), in.data()},
               {out[0].data(), out[1].data(), out[2].data()});
    for (const Plane& plane : out) {
      ASSERT_TRUE(std::all_of(plane.begin() + static_cast<long>(padded), plane.end(),
                              [](uint8_t v) { return v == 77; }))
          << width;
    }
  }
}

TEST(Split, EqualsTheScalarTwinAtEveryWidthAndLeavesWhatLiesBehindTheRow) {
  for (int width = 1; width < 200; ++width) {
    const Plane pixels = noise(static_cast<size_t>(width) * 4 + 64, static_cast<uint32_t>(width));
    for (const bool four : {false, true}) {
      Plane fast[3] = {Plane(264, 77), Plane(264, 77), Plane(264, 77)};
      Plane slow[3] = {Plane(264, 77), Plane(264, 77), Plane(264, 77)};
      (four ? split_4 : split_3)(pixels.data(), width, fast[0].data(), fast[1].data(),
                                 fast[2].data());
      (four ? scalar::split_4 : scalar::split_3)(pixels.data(), width, slow[0].data(),
                                                 slow[1].data(), slow[2].data());
      for (int c = 0; c < 3; ++c) ASSERT_EQ(fast[c], slow[c]) << width;
    }
  }
}

TEST(Merge, EqualsTheScalarTwinAtEveryWidthAndLeavesWhatLiesBehindTheRow) {
  for (int width = 1; width < 200; ++width) {
    const Plane in = noise(3 * 264, static_cast<uint32_t>(width));
    const ConstRows planes{in.data(), in.data() + 264, in.data() + 528};
    Plane fast(3 * 264, 77), slow(3 * 264, 77);
    merge_3(planes, width, fast.data());
    scalar::merge_3(planes, width, slow.data());
    ASSERT_EQ(fast, slow) << width;
  }
}

TEST(Transpose, ExchangesRowsAndColumns) {
  const Plane in = noise(16 * 20, 3);
  Plane out(16 * 24);
  transpose_16x16(in.data(), 20, out.data(), 24);
  for (size_t y = 0; y < 16; ++y) {
    for (size_t x = 0; x < 16; ++x) ASSERT_EQ(out[x * 24 + y], in[y * 20 + x]);
  }
}

}  // namespace
}  // namespace yoload::decode
