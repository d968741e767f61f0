// Levels to elements of the batch: scaling, number type, memory format.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include "augment/bfloat16.h"
#include "augment/flat_plan.h"
#include "augment/float16.h"
#include "device/host_device.h"

namespace yoload::flat {

struct alignas(8) FloatPair {
  float first, second;
};

YOLOAD_HD inline float scaled(const FlatOutput& output, int channel, float level) {
  const int of = channel < 2 ? channel : 2;
  return level * output.mul[of] + output.add[of];
}

/// Two halves of a word, the first in the low one.
YOLOAD_HD inline uint32_t float16_pair(float first, float second) {
#ifdef __CUDA_ARCH__
  const __half2 pair = __floats2half2_rn(first, second);
  return *reinterpret_cast<const uint32_t*>(&pair);
#else
  return to_float16(first) | static_cast<uint32_t>(to_float16(second)) << 16;
#endif
}
YOLOAD_HD inline uint32_t bfloat16_pair(float first, float second) {
#ifdef __CUDA_ARCH__
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const uint32_t*>(&pair);
#else
  return to_bfloat16(first) | static_cast<uint32_t>(to_bfloat16(second)) << 16;
#endif
}
/// Levels are whole numbers below 256: they stand in the low bits of level + 2^23.
YOLOAD_HD inline uint8_t byte_of(float level) {
#ifdef __CUDA_ARCH__
  return static_cast<uint8_t>(__float_as_uint(level + 0x1p23f));
#else
  return static_cast<uint8_t>(level);
#endif
}

/// One element, wherever it lies.
YOLOAD_HD inline void store_element(const FlatOutput& output, uint8_t* out, int64_t at, int channel,
                                    float level) {
  switch (output.dtype) {
    case DType::uint8:
      out[at] = byte_of(level);
      break;
    case DType::float16:
      reinterpret_cast<uint16_t*>(out)[at] =
          static_cast<uint16_t>(float16_pair(scaled(output, channel, level), 0));
      break;
    case DType::bfloat16:
      reinterpret_cast<uint16_t*>(out)[at] =
          static_cast<uint16_t>(bfloat16_pair(scaled(output, channel, level), 0));
      break;
    case DType::float32:
      reinterpret_cast<float*>(out)[at] = scaled(output, channel, level);
      break;
  }
}

/// Two elements side by side of channels `a` and `b`; `at` is even, in elements.
YOLOAD_HD inline void store_two(const FlatOutput& output, uint8_t* out, int64_t at, int a, int b,
                                float first, float second) {
  switch (output.dtype) {
    case DType::uint8:
      *reinterpret_cast<uint16_t*>(out + at) =
          static_cast<uint16_t>(byte_of(first) | byte_of(second) << 8);
      break;
    case DType::float16:
      *reinterpret_cast<uint32_t*>(out + 2 * at) =
          float16_pair(scaled(output, a, first), scaled(output, b, second));
      break;
    case DType::bfloat16:
      *reinterpret_cast<uint32_t*>(out + 2 * at) =
          bfloat16_pair(scaled(output, a, first), scaled(output, b, second));
      break;
    case DType::float32:
      *reinterpret_cast<FloatPair*>(out + 4 * at) = {scaled(output, a, first),
                                                     scaled(output, b, second)};
      break;
  }
}

YOLOAD_HD inline int64_t element(const FlatSample& sample, const FlatOutput& output, int channel,
                                 int x, int y) {
  const int64_t width = sample.width_px;
  return output.format == MemoryFormat::contiguous
             ? (static_cast<int64_t>(channel) * sample.height_px + y) * width + x
             : (y * width + x) * sample.channels + channel;
}

YOLOAD_HD inline void store_level(const FlatSample& sample, const FlatOutput& output, int channel,
                                  int x, int y, float level) {
  store_element(output, sample.out, element(sample, output, channel, x, y), channel, level);
}

/// Three channels of the pixels (x, y) and, where there is one, (x + 1, y); x is even.
YOLOAD_HD inline void store_pair(const FlatSample& sample, const FlatOutput& output, int x, int y,
                                 const float* left, const float* right) {
  if (!sample.paired) {
    for (int channel = 0; channel < 3; ++channel) {
      store_level(sample, output, channel, x, y, left[channel]);
      if (x + 1 < sample.width_px) store_level(sample, output, channel, x + 1, y, right[channel]);
    }
    return;
  }
  if (output.format == MemoryFormat::contiguous) {
    const int64_t plane = static_cast<int64_t>(sample.width_px) * sample.height_px;
    int64_t at = static_cast<int64_t>(y) * sample.width_px + x;
    for (int channel = 0; channel < 3; ++channel, at += plane) {
      store_two(output, sample.out, at, channel, channel, left[channel], right[channel]);
    }
    return;
  }
  const int64_t at = 3 * (static_cast<int64_t>(y) * sample.width_px + x);
  store_two(output, sample.out, at, 0, 1, left[0], left[1]);
  store_two(output, sample.out, at + 2, 2, 0, left[2], right[0]);
  store_two(output, sample.out, at + 4, 1, 2, right[1], right[2]);
}

}  // namespace yoload::flat
