// Note [Narrow sums]
//
// libjpeg's C code calculates in 32 bits; its vector code for x86, which is what runs, partly
// in 16. The two agree for everything an encoder makes. On coefficients beyond that (found with
// random ones, see idct_test.cpp) the vector code is followed, and that means:
//   - a coefficient times its factor is cut to 16 bits;
//   - so are the sums of two inputs (in0 + in4, in0 - in4, in7 + in3, in5 + in1), all other sums
//   have 32;
//   - the results of a pass are limited to 16 bits (saturation), those of the second then to 8;
//   - in a block whose rows 1 to 7 are all zero before dequantisation, the first pass is a shift by
//   the
//     extra bits that cuts instead of limiting.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "decode/jpeg/idct.h"
#include "decode/jpeg/idct_factors.h"

namespace yoload::decode::jpeg {

Dequantisation dequantisation(const std::array<uint16_t, 64>& table) {
  Dequantisation out{};
  for (size_t i = 0; i < 64; ++i) {
    const auto factor =
        static_cast<int16_t>(table.at(i));  // only the low 16 bits of products count
    out.rows[i / 8][i % 8] = factor;
    out.rows[i / 8][i % 8 + 8] = factor;
  }
  return out;
}

namespace scalar {
namespace {

int cut(int value) {
  return static_cast<int16_t>(value);
}

int limited(int64_t value) {
  return static_cast<int>(std::clamp<int64_t>(value, INT16_MIN, INT16_MAX));
}

// Eight values `step` apart, in place.
void transform(int* v, int step, int shift) {
  using namespace llm;
  const auto in = [&](int i) { return int64_t{v[i * step]}; };
  const int64_t even_sum = int64_t{cut(v[0] + v[4 * step])} * kOne;
  const int64_t even_difference = int64_t{cut(v[0] - v[4 * step])} * kOne;
  const int64_t turned = (in(2) + in(6)) * k0_541;
  const int64_t t2 = turned - in(6) * k1_847;
  const int64_t t3 = turned + in(2) * k0_765;
  const int64_t even[4] = {even_sum + t3, even_difference + t2, even_difference - t2,
                           even_sum - t3};
  const int64_t sum_73 = cut(v[7 * step] + v[3 * step]);
  const int64_t sum_51 = cut(v[5 * step] + v[step]);
  const int64_t z1 = (in(7) + in(1)) * -k0_899;
  const int64_t z2 = (in(5) + in(3)) * -k2_562;
  const int64_t z3 = sum_73 * (k1_175 - k1_961) + sum_51 * k1_175;
  const int64_t z4 = sum_73 * k1_175 + sum_51 * (k1_175 - k0_390);
  const int64_t odd[4] = {in(1) * k1_501 + z1 + z4, in(3) * k3_072 + z2 + z3,
                          in(5) * k2_053 + z2 + z4, in(7) * k0_298 + z1 + z3};
  const int64_t half = int64_t{1} << (shift - 1);
  for (int i = 0; i < 4; ++i) {
    v[i * step] = limited((even[i] + odd[i] + half) >> shift);
    v[(7 - i) * step] = limited((even[i] - odd[i] + half) >> shift);
  }
}

}  // namespace

void inverse_dct(const int16_t* block, const Dequantisation& factors, uint8_t* out,
                 size_t stride_bytes) {
  using namespace llm;
  int v[64];
  for (size_t i = 0; i < 64; ++i) v[i] = cut(block[i] * factors.rows[i / 8][i % 8]);
  if (std::all_of(block + 8, block + 64, [](int16_t c) { return c == 0; })) {
    for (int i = 0; i < 64; ++i) v[i] = i < 8 ? cut(v[i] * (1 << kPassBits)) : v[i - 8];
  } else {
    for (int x = 0; x < 8; ++x) transform(v + x, 8, kFactorBits - kPassBits);
  }
  for (int y = 0; y < 8; ++y) {
    transform(v + 8 * y, 1, kFactorBits + kPassBits + 3);
    for (int x = 0; x < 8; ++x) {
      out[static_cast<size_t>(y) * stride_bytes + static_cast<size_t>(x)] =
          static_cast<uint8_t>(std::clamp(v[8 * y + x], -128, 127) + 128);
    }
  }
}

void inverse_dct_row(const int16_t* blocks, const uint8_t* /*last*/, int count,
                     const Dequantisation& factors, uint8_t* out, size_t stride_bytes) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    inverse_dct(blocks + 64 * i, factors, out + 8 * i, stride_bytes);
  }
}

}  // namespace scalar
}  // namespace yoload::decode::jpeg
