// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/resize_kernels.h"
#include "device/cuda/check.h"

namespace yoload {
namespace {

constexpr int kBlockWidth = 32, kBlockHeight = 8;
/// Output columns of a thread: one word of bytes.
constexpr int kColumns = 4;

dim3 grid_of(int width, int height, int jobs, int columns) {
  return dim3(static_cast<unsigned>((width + kBlockWidth * columns - 1) / (kBlockWidth * columns)),
              static_cast<unsigned>((height + kBlockHeight - 1) / kBlockHeight),
              static_cast<unsigned>(jobs));
}

__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    bilinear(const FlatResize* __restrict__ jobs) {
  const FlatResize r = jobs[blockIdx.z];
  const int x = static_cast<int>(blockIdx.x * kBlockWidth + threadIdx.x) * kColumns;
  const int y = static_cast<int>(blockIdx.y * kBlockHeight + threadIdx.y);
  if (x >= r.to_width_px || y >= r.to_height_px) return;
  const ResizeTap row = resize_tap(y, r.step_y, r.height_px);
  ResizeTap columns[kColumns];
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    const int at = x + k < r.to_width_px ? x + k : r.to_width_px - 1;
    columns[k] = resize_tap(at, r.step_x, r.width_px);
  }
  const bool word = x + kColumns <= r.to_width_px &&
                    (reinterpret_cast<uintptr_t>(r.to) | r.to_row | r.to_plane) % kColumns == 0;
  for (int channel = 0; channel < r.channels; ++channel) {
    uint8_t levels[kColumns];
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      levels[k] = flat::resized_level(r, columns[k], row, channel);
    }
    uint8_t* to = r.to + channel * r.to_plane + y * r.to_row + x;
    if (word) {
      *reinterpret_cast<uchar4*>(to) = make_uchar4(levels[0], levels[1], levels[2], levels[3]);
    } else {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        if (x + k < r.to_width_px) to[k] = levels[k];
      }
    }
  }
}

/// Horizontal pass of `antialias`, or the vertical one.
template <bool kAcross>
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    antialiased(const FlatResize* __restrict__ jobs, const FlatTaps::Tap* __restrict__ taps,
                const int32_t* __restrict__ weights) {
  const FlatResize& r = jobs[blockIdx.z];
  const int x = static_cast<int>(blockIdx.x * kBlockWidth + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kBlockHeight + threadIdx.y);
  if (x >= r.to_width_px || y >= (kAcross ? r.height_px : r.to_height_px)) return;
  for (int channel = 0; channel < r.channels; ++channel) {
    if constexpr (kAcross) {
      flat::narrow_pixel(r, taps, weights, channel, x, y);
    } else {
      flat::flatten_pixel(r, taps, weights, channel, x, y);
    }
  }
}

}  // namespace

void launch_bilinear(const FlatResize* jobs, const ResizeExtents& e, cudaStream_t stream) {
  bilinear<<<grid_of(e.to_width_px, e.to_height_px, e.jobs, kColumns),
             dim3(kBlockWidth, kBlockHeight), 0, stream>>>(jobs);
  device::check(cudaGetLastError(), "resize pictures");
}

void launch_antialiased(const FlatResize* jobs, const FlatTaps::Tap* taps, const int32_t* weights,
                        const ResizeExtents& e, cudaStream_t stream) {
  const dim3 block(kBlockWidth, kBlockHeight);
  antialiased<true><<<grid_of(e.to_width_px, e.from_height_px, e.jobs, 1), block, 0, stream>>>(
      jobs, taps, weights);
  antialiased<false><<<grid_of(e.to_width_px, e.to_height_px, e.jobs, 1), block, 0, stream>>>(
      jobs, taps, weights);
  device::check(cudaGetLastError(), "resize pictures, antialiased");
}

}  // namespace yoload
