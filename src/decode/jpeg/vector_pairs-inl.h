// The few instructions of x86 that the JPEG kernels live on and this Highway has no word for:
// products of pairs with 32-bit sums, and packing that keeps to its half of the vector. Other
// machines get the same results from Highway's portable words.
//
// Included once a target, by files under foreach_target.h. SPDX-License-Identifier: Apache-2.0
#include <hwy/highway.h>

#if defined(YOLOAD_VECTOR_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef YOLOAD_VECTOR_PAIRS_INL_H_
#undef YOLOAD_VECTOR_PAIRS_INL_H_
#else
#define YOLOAD_VECTOR_PAIRS_INL_H_
#endif

// Vectors whose size is known when the program is built: all but RVV, SVE and the scalar target.
#undef YOLOAD_FIXED_VECTORS
#define YOLOAD_FIXED_VECTORS (HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE)
#undef YOLOAD_X86_VECTORS
#define YOLOAD_X86_VECTORS (HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3)
#undef YOLOAD_256_BITS
#define YOLOAD_256_BITS (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

#if YOLOAD_FIXED_VECTORS

HWY_BEFORE_NAMESPACE();
namespace yoload::decode::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Never more than 256 bits: see ycc_to_rgb() in row_kernels.cpp.
constexpr size_t kLanes16 = YOLOAD_256_BITS ? 16 : 8;
using D16 = hn::FixedTag<int16_t, kLanes16>;
using V16 = hn::Vec<D16>;
using D8 = hn::Repartition<uint8_t, D16>;
using V8 = hn::Vec<D8>;
using D32 = hn::Repartition<int32_t, D16>;

/// 16-bit lanes widened to 32 bits: the lower and upper half of every 128 bits.
struct Wide {
  hn::Vec<D32> lower, upper;
};

/// a * kA + b * kB, modulo 2^32.
template <int kA, int kB>
HWY_INLINE Wide Rotated(V16 a, V16 b) {
  static_assert(kA >= INT16_MIN && kA <= INT16_MAX && kB >= INT16_MIN && kB <= INT16_MAX);
  const D32 d32;
#if YOLOAD_X86_VECTORS
  const D16 d16;
  constexpr uint32_t kPair =
      (static_cast<uint32_t>(kB) << 16) | (static_cast<uint32_t>(kA) & 0xFFFF);
  const V16 factors = hn::BitCast(d16, hn::Set(d32, static_cast<int32_t>(kPair)));
  const auto products = [&](V16 pairs) {
#if YOLOAD_256_BITS
    return hn::Vec<D32>{_mm256_madd_epi16(pairs.raw, factors.raw)};
#else
    return hn::Vec<D32>{_mm_madd_epi16(pairs.raw, factors.raw)};
#endif
  };
  return {products(hn::InterleaveLower(d16, a, b)), products(hn::InterleaveUpper(d16, a, b))};
#else
  const hn::Half<D16> half;
  const auto products = [&](auto x, auto y) {
    return hn::Add(hn::Mul(hn::PromoteTo(d32, x), hn::Set(d32, kA)),
                   hn::Mul(hn::PromoteTo(d32, y), hn::Set(d32, kB)));
  };
  return {products(hn::LowerHalf(half, a), hn::LowerHalf(half, b)),
          products(hn::UpperHalf(half, a), hn::UpperHalf(half, b))};
#endif
}

/// Back to 16 bits, limited.
HWY_INLINE V16 Narrow(const Wide& a) {
  return hn::ReorderDemote2To(D16(), a.lower, a.upper);
}

/// Limited to int8_t; in every 128 bits the lanes of `a`, then those of `b`.
HWY_INLINE V8 PackSigned(V16 a, V16 b) {
#if YOLOAD_256_BITS
  return V8{_mm256_packs_epi16(a.raw, b.raw)};
#elif YOLOAD_X86_VECTORS
  return V8{_mm_packs_epi16(a.raw, b.raw)};
#else
  const hn::Half<hn::RebindToSigned<D8> > half;
  return hn::Combine(D8(), hn::BitCast(hn::Half<D8>(), hn::DemoteTo(half, b)),
                     hn::BitCast(hn::Half<D8>(), hn::DemoteTo(half, a)));
#endif
}

/// Limited to uint8_t, likewise.
HWY_INLINE V8 PackUnsigned(V16 a, V16 b) {
#if YOLOAD_256_BITS
  return V8{_mm256_packus_epi16(a.raw, b.raw)};
#elif YOLOAD_X86_VECTORS
  return V8{_mm_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<D8> half;
  return hn::Combine(D8(), hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

/// For lanes that hold two signed bytes: low * kLow + high * kHigh. Must fit into 16 bits.
template <int kLow, int kHigh>
HWY_INLINE V16 ByteProducts(V16 pairs) {
  static_assert(kLow >= 0 && kHigh >= 0 && kLow + kHigh < 256);
  const D16 d16;
#if YOLOAD_X86_VECTORS
  const V16 factors = hn::Set(d16, static_cast<int16_t>(kHigh * 256 + kLow));
#if YOLOAD_256_BITS
  return V16{_mm256_maddubs_epi16(factors.raw, pairs.raw)};
#else
  return V16{_mm_maddubs_epi16(factors.raw, pairs.raw)};
#endif
#else
  const V16 low = hn::ShiftRight<8>(hn::ShiftLeft<8>(pairs));
  const V16 high = hn::ShiftRight<8>(pairs);
  return hn::Add(hn::Mul(low, hn::Set(d16, kLow)), hn::Mul(high, hn::Set(d16, kHigh)));
#endif
}

/// In every 128 bits the first eight bytes go to the first row, the others to the second.
HWY_INLINE void StoreTwoRows(V8 rows, uint8_t* first, uint8_t* second) {
#if YOLOAD_256_BITS
  const __m256i sorted = _mm256_permute4x64_epi64(rows.raw, 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(first), _mm256_castsi256_si128(sorted));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(second), _mm256_extracti128_si256(sorted, 1));
#else
  const hn::Half<D8> half;
  hn::StoreU(hn::LowerHalf(half, rows), half, first);
  hn::StoreU(hn::UpperHalf(half, rows), half, second);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace yoload::decode::jpeg
HWY_AFTER_NAMESPACE();

#endif  // YOLOAD_FIXED_VECTORS
#endif  // per-target include guard
