// The factors of the LLM inverse DCT in 1/8192, shared by the scalar and the vector code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace yoload::decode::jpeg::llm {

inline constexpr int kFactorBits = 13;  // of the factors
inline constexpr int kPassBits = 2;     // kept between the passes

constexpr int fixed(double factor) {
  return static_cast<int>(factor * (1 << kFactorBits) + (factor < 0 ? -0.5 : 0.5));
}

// With c(k) = sqrt(2) cos(k pi / 16), as in figure 1 of the paper.
inline constexpr int kOne = 1 << kFactorBits;
inline constexpr int k0_298 = fixed(0.298631336);  // -c1 + c3 + c5 - c7
inline constexpr int k0_390 = fixed(0.390180644);  // c3 - c5
inline constexpr int k0_541 = fixed(0.541196100);  // c6
inline constexpr int k0_765 = fixed(0.765366865);  // c2 - c6
inline constexpr int k0_899 = fixed(0.899976223);  // c3 - c7
inline constexpr int k1_175 = fixed(1.175875602);  // c3
inline constexpr int k1_501 = fixed(1.501321110);  // c1 + c3 - c5 - c7
inline constexpr int k1_847 = fixed(1.847759065);  // c2 + c6
inline constexpr int k1_961 = fixed(1.961570560);  // c3 + c5
inline constexpr int k2_053 = fixed(2.053119869);  // c1 + c3 - c5 + c7
inline constexpr int k2_562 = fixed(2.562915447);  // c1 + c3
inline constexpr int k3_072 = fixed(3.072711026);  // c1 + c3 + c5 - c7

}  // namespace yoload::decode::jpeg::llm
