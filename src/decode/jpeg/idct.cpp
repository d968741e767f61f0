// The inverse DCT in vectors: two blocks at once where vectors have 256 bits, one otherwise.
// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "decode/jpeg/idct.cpp"
#include <hwy/foreach_target.h>  // NOLINT: must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "decode/jpeg/idct.h"
#include "decode/jpeg/idct_factors.h"
#include "decode/jpeg/vector_pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace yoload::decode::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if YOLOAD_FIXED_VECTORS

using namespace llm;

constexpr size_t kBlocksAVector = kLanes16 / 8;

// How far the coefficients of a block (or of two that are done together) reach. By the zig-zag
// order (ITU-T T.81, figure A.6) they stay within the first n rows and columns up to these places.
enum class Extent { dc, two, four, all };
constexpr uint8_t kLastOfTwo = 2;
constexpr uint8_t kLastOfFour = 9;

// One of the four results that an odd or even part makes of its inputs, each half with 32-bit
// lanes.
HWY_INLINE Wide Plus(const Wide& a, const Wide& b) {
  return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)};
}
HWY_INLINE Wide Minus(const Wide& a, const Wide& b) {
  return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)};
}
template <int kShift>
HWY_INLINE V16 Descaled(const Wide& a) {
  return Narrow({hn::ShiftRight<kShift>(a.lower), hn::ShiftRight<kShift>(a.upper)});
}

// One pass over eight vectors in place, of which only the first kInputs are not zero. The rounding
// of the results is added to the even part, where it costs a factor of a product that is made
// anyway.
template <int kInputs, int kShift>
HWY_INLINE void Transform(V16 (&v)[8]) {
  const D16 d;
  constexpr int kRound = 1 << (kShift - 1);
  // kRound = (1 << shift) * factor with both in 16 bits.
  constexpr int kRoundFactor = std::min(kRound, kOne);
  const V16 round = hn::Set(d, static_cast<int16_t>(kRound / kRoundFactor));
  Wide even[4];
  if constexpr (kInputs == 8) {
    const Wide sum = Rotated<kOne, kRoundFactor>(hn::Add(v[0], v[4]), round);
    const Wide difference = Rotated<kOne, kRoundFactor>(hn::Sub(v[0], v[4]), round);
    const Wide t3 = Rotated<k0_541 + k0_765, k0_541>(v[2], v[6]);
    const Wide t2 = Rotated<k0_541, k0_541 - k1_847>(v[2], v[6]);
    even[0] = Plus(sum, t3);
    even[1] = Plus(difference, t2);
    even[2] = Minus(difference, t2);
    even[3] = Minus(sum, t3);
  } else if constexpr (kInputs == 4) {
    const hn::Repartition<int32_t, D16> d32;
    const Wide rounding{hn::Set(d32, kRound), hn::Set(d32, kRound)};
    even[0] = Plus(Rotated<kOne, k0_541 + k0_765>(v[0], v[2]), rounding);
    even[1] = Plus(Rotated<kOne, k0_541>(v[0], v[2]), rounding);
    even[2] = Plus(Rotated<kOne, -k0_541>(v[0], v[2]), rounding);
    even[3] = Plus(Rotated<kOne, -k0_541 - k0_765>(v[0], v[2]), rounding);
  } else {
    even[0] = even[1] = even[2] = even[3] = Rotated<kOne, kRoundFactor>(v[0], round);
  }
  Wide odd[4];
  if constexpr (kInputs == 8) {
    const V16 sum_73 = hn::Add(v[7], v[3]);
    const V16 sum_51 = hn::Add(v[5], v[1]);
    const Wide z3 = Rotated<k1_175 - k1_961, k1_175>(sum_73, sum_51);
    const Wide z4 = Rotated<k1_175, k1_175 - k0_390>(sum_73, sum_51);
    odd[0] = Plus(Rotated<-k0_899, k1_501 - k0_899>(v[7], v[1]), z4);
    odd[1] = Plus(Rotated<-k2_562, k3_072 - k2_562>(v[5], v[3]), z3);
    odd[2] = Plus(Rotated<k2_053 - k2_562, -k2_562>(v[5], v[3]), z4);
    odd[3] = Plus(Rotated<k0_298 - k0_899, -k0_899>(v[7], v[1]), z3);
  } else {
    // The same with in5 = in7 = 0, sorted by in1 and in3: no sum of two inputs is left to be cut.
    const V16 third = kInputs == 4 ? v[3] : hn::Zero(d);
    odd[0] = Rotated<k1_501 - k0_899 + k1_175 - k0_390, k1_175>(v[1], third);
    odd[1] = Rotated<k1_175, k3_072 - k2_562 + k1_175 - k1_961>(v[1], third);
    odd[2] = Rotated<k1_175 - k0_390, k1_175 - k2_562>(v[1], third);
    odd[3] = Rotated<k1_175 - k0_899, k1_175 - k1_961>(v[1], third);
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = Descaled<kShift>(Plus(even[i], odd[i]));
    v[7 - i] = Descaled<kShift>(Minus(even[i], odd[i]));
  }
}

// Rows become columns in each group of eight lanes; columns from kColumns on are not needed.
template <int kColumns>
HWY_INLINE void Transpose(V16 (&v)[8]) {
  const D16 d;
  const hn::Repartition<int32_t, D16> d32;
  const hn::Repartition<int64_t, D16> d64;
  V16 lower[4], upper[4];  // columns 0-3 and 4-7 of two rows each
  for (int i = 0; i < 4; ++i) {
    lower[i] = hn::InterleaveLower(d, v[2 * i], v[2 * i + 1]);
    upper[i] = kColumns > 4 ? hn::InterleaveUpper(d, v[2 * i], v[2 * i + 1]) : hn::Zero(d);
  }
  const auto low32 = [&](V16 a, V16 b) {
    return hn::BitCast(d64, hn::InterleaveLower(d32, hn::BitCast(d32, a), hn::BitCast(d32, b)));
  };
  const auto high32 = [&](V16 a, V16 b) {
    return hn::BitCast(d64, hn::InterleaveUpper(d32, hn::BitCast(d32, a), hn::BitCast(d32, b)));
  };
  const auto finish = [&](auto top, auto bottom, int column) {  // rows 0-3, 4-7 of two columns
    v[column] = hn::BitCast(d, hn::InterleaveLower(d64, top, bottom));
    v[column + 1] = hn::BitCast(d, hn::InterleaveUpper(d64, top, bottom));
  };
  finish(low32(lower[0], lower[1]), low32(lower[2], lower[3]), 0);
  if constexpr (kColumns > 2) {
    finish(high32(lower[0], lower[1]), high32(lower[2], lower[3]), 2);
  }
  if constexpr (kColumns > 4) {
    finish(low32(upper[0], upper[1]), low32(upper[2], upper[3]), 4);
    finish(high32(upper[0], upper[1]), high32(upper[2], upper[3]), 6);
  }
}

// Eight columns to eight rows of bytes. The columns are packed four apart, so that three rounds of
// interleaving bring the eight bytes of a row together.
HWY_INLINE void StoreColumns(const V16 (&v)[8], uint8_t* HWY_RESTRICT out, size_t stride_bytes) {
  const D8 d;
  const hn::Repartition<uint16_t, D8> d16;
  const hn::Repartition<uint32_t, D8> d32;
  const V8 centre = hn::Set(d, 128);
  V8 packed[4];
  for (int i = 0; i < 4; ++i) packed[i] = hn::Xor(PackSigned(v[i], v[i + 4]), centre);
  const auto c01 = hn::BitCast(d16, hn::InterleaveLower(d, packed[0], packed[1]));
  const auto c45 = hn::BitCast(d16, hn::InterleaveUpper(d, packed[0], packed[1]));
  const auto c23 = hn::BitCast(d16, hn::InterleaveLower(d, packed[2], packed[3]));
  const auto c67 = hn::BitCast(d16, hn::InterleaveUpper(d, packed[2], packed[3]));
  const auto left_03 = hn::BitCast(d32, hn::InterleaveLower(d16, c01, c23));
  const auto left_47 = hn::BitCast(d32, hn::InterleaveUpper(d16, c01, c23));
  const auto right_03 = hn::BitCast(d32, hn::InterleaveLower(d16, c45, c67));
  const auto right_47 = hn::BitCast(d32, hn::InterleaveUpper(d16, c45, c67));
  const V8 rows[4] = {hn::BitCast(d, hn::InterleaveLower(d32, left_03, right_03)),
                      hn::BitCast(d, hn::InterleaveUpper(d32, left_03, right_03)),
                      hn::BitCast(d, hn::InterleaveLower(d32, left_47, right_47)),
                      hn::BitCast(d, hn::InterleaveUpper(d32, left_47, right_47))};
  for (size_t i = 0; i < 4; ++i) {
    StoreTwoRows(rows[i], out + 2 * i * stride_bytes, out + (2 * i + 1) * stride_bytes);
  }
}

HWY_INLINE V16 LoadRow(const int16_t* blocks, size_t second, size_t row) {
  const hn::FixedTag<int16_t, 8> half;
  const auto first = hn::Load(half, blocks + 8 * row);
#if YOLOAD_256_BITS
  return hn::Combine(D16(), hn::Load(half, blocks + second + 8 * row), first);
#else
  (void)second;
  return first;
#endif
}

// A vector of blocks with more than DCs. Returns false, having done nothing, where a block without
// rows 1 to 7 would need the cutting shift of Note [Narrow sums].
template <int kSize>
HWY_INLINE bool TransformBlocks(const int16_t* blocks, size_t second, const Dequantisation& factors,
                                uint8_t* HWY_RESTRICT out, size_t stride_bytes) {
  const D16 d;
  V16 v[8];
  for (size_t i = 0; i < kSize; ++i) {
    v[i] = hn::Mul(LoadRow(blocks, second, i), hn::Load(d, factors.rows[i].data()));
  }
  const V16 reach = hn::And(hn::Add(v[0], hn::Set(d, 0x2000)),
                            hn::Set(d, static_cast<int16_t>(0xC000)));  // outside +-0x2000?
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(reach, hn::Zero(d))))) return false;
  Transform<kSize, kFactorBits - kPassBits>(v);
  Transpose<kSize>(v);
  Transform<kSize, kFactorBits + kPassBits + 3>(v);
  StoreColumns(v, out, stride_bytes);
  return true;
}

// The DC alone: one value for the whole block.
HWY_INLINE uint8_t FlatSample(int16_t dc, int16_t factor) {
  const int scaled = static_cast<int16_t>(static_cast<int16_t>(dc * factor) * (1 << kPassBits));
  return static_cast<uint8_t>(std::clamp((scaled + 16) >> 5, -128, 127) + 128);
}

HWY_INLINE void FillBlocks(const int16_t* blocks, size_t second, const Dequantisation& factors,
                           uint8_t* HWY_RESTRICT out, size_t stride_bytes) {
  const int16_t factor = factors.rows[0][0];
  const hn::FixedTag<uint64_t, 1> d;
  const auto flat = [&](size_t at) {
    return hn::Set(d, FlatSample(blocks[at], factor) * uint64_t{0x0101010101010101});
  };
  const hn::Repartition<uint8_t, decltype(d)> d8;
  const auto first = hn::BitCast(d8, flat(0));
  const auto other = hn::BitCast(d8, flat(second));
  for (size_t y = 0; y < 8; ++y) {
    hn::StoreU(first, d8, out + y * stride_bytes);
    if constexpr (kBlocksAVector == 2) hn::StoreU(other, d8, out + y * stride_bytes + 8);
  }
}

void InverseDctRow(const int16_t* blocks, const uint8_t* last, int count,
                   const Dequantisation& factors, uint8_t* out, size_t stride_bytes) {
  const size_t blocks_in_row = static_cast<size_t>(count);
  for (size_t i = 0; i < blocks_in_row; i += kBlocksAVector) {
    const int16_t* block = blocks + 64 * i;
    uint8_t* target = out + 8 * i;
    // The last block of an odd number is its own neighbour.
    const size_t other = kBlocksAVector == 2 && i + 1 < blocks_in_row ? 1 : 0;
    const uint8_t reach = std::max(last[i], last[i + other]);
    const size_t second = 64 * other;
    bool done = true;
    if (reach == 0) {
      FillBlocks(block, second, factors, target, stride_bytes);
    } else if (reach <= kLastOfTwo) {
      done = TransformBlocks<2>(block, second, factors, target, stride_bytes);
    } else if (reach <= kLastOfFour) {
      done = TransformBlocks<4>(block, second, factors, target, stride_bytes);
    } else {
      done = TransformBlocks<8>(block, second, factors, target, stride_bytes);
    }
    if (HWY_UNLIKELY(!done)) {
      scalar::inverse_dct(block, factors, target, stride_bytes);
      if (other != 0) scalar::inverse_dct(block + 64, factors, target + 8, stride_bytes);
    }
  }
}

#else

void InverseDctRow(const int16_t* blocks, const uint8_t* last, int count,
                   const Dequantisation& factors, uint8_t* out, size_t stride_bytes) {
  scalar::inverse_dct_row(blocks, last, count, factors, out, stride_bytes);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace yoload::decode::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace yoload::decode::jpeg {

HWY_EXPORT(InverseDctRow);

void inverse_dct_row(const int16_t* blocks, const uint8_t* last, int count,
                     const Dequantisation& factors, uint8_t* out, size_t stride_bytes) {
  HWY_DYNAMIC_DISPATCH(InverseDctRow)(blocks, last, count, factors, out, stride_bytes);
}

}  // namespace yoload::decode::jpeg
#endif
