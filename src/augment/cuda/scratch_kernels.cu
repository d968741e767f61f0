// Kernels on scratch pictures: copy-paste and filters. They run for a few samples in a hundred.
// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/render_kernels.h"
#include "augment/flat_filter.h"
#include "device/cuda/check.h"

namespace yoload {
namespace {

constexpr int kThreads = 256;

unsigned blocks(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}
__device__ int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

/// A pair of mirrored columns a thread.
__global__ void paste(FlatPaste p, const uint32_t* masks) {
  const int half = p.width_px / 2;
  const int64_t at = thread_index();
  if (at >= static_cast<int64_t>(half) * p.height_px) return;
  flat::paste_pixel(p, masks, static_cast<int>(blockIdx.y), static_cast<int>(at % half),
                    static_cast<int>(at / half));
}

enum class Step { blur, median, gray, lab, clahe };

template <Step kStep>
__global__ void filter_pixels(FlatFilter f, const LabTables* lab) {
  const int64_t at = thread_index();
  if (at >= static_cast<int64_t>(f.width_px) * f.height_px) return;
  const int channel = static_cast<int>(blockIdx.y);
  const int x = static_cast<int>(at % f.width_px), y = static_cast<int>(at / f.width_px);
  if constexpr (kStep == Step::blur) flat::blur_pixel(f, channel, x, y);
  if constexpr (kStep == Step::median) flat::median_pixel(f, channel, x, y);
  if constexpr (kStep == Step::gray) flat::gray_pixel(f, at);
  if constexpr (kStep == Step::lab) flat::lab_pixel(f, *lab, at);
  if constexpr (kStep == Step::clahe) flat::clahe_pixel(f, *lab, channel, x, y);
}

template <Step kStep>
void each_pixel(const FlatFilter& f, int channels, const LabTables* lab, cudaStream_t stream) {
  const dim3 grid(blocks(static_cast<int64_t>(f.width_px) * f.height_px),
                  static_cast<unsigned>(channels));
  filter_pixels<kStep><<<grid, kThreads, 0, stream>>>(f, lab);
}

/// CLAHE: a block makes the table of one tile.
__global__ void make_tables(FlatFilter f) {
  __shared__ int histogram[256];
  const int tiles_x = static_cast<int>(gridDim.x), tiles_y = static_cast<int>(gridDim.y);
  const int tx = static_cast<int>(blockIdx.x), ty = static_cast<int>(blockIdx.y),
            channel = static_cast<int>(blockIdx.z);
  for (int level = static_cast<int>(threadIdx.x); level < 256; level += kThreads)
    histogram[level] = 0;
  __syncthreads();
  const int x0 = tile_edge(tx, f.width_px, tiles_x), x1 = tile_edge(tx + 1, f.width_px, tiles_x);
  const int y0 = tile_edge(ty, f.height_px, tiles_y), y1 = tile_edge(ty + 1, f.height_px, tiles_y);
  const uint8_t* plane = flat::clahe_plane(f, channel);
  const int width = x1 - x0, pixels = width * (y1 - y0);
  for (int i = static_cast<int>(threadIdx.x); i < pixels; i += kThreads) {
    const int64_t row = y0 + i / width;
    atomicAdd(&histogram[plane[row * f.width_px + x0 + i % width]], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    equalising_table(histogram, pixels, f.filter.clip_q8 / 256.0,
                     flat::clahe_table(f, channel, tx, ty));
  }
}

}  // namespace

void launch_paste(const FlatPaste& p, const uint32_t* masks, cudaStream_t stream) {
  const dim3 grid(blocks(static_cast<int64_t>(p.width_px / 2) * p.height_px),
                  static_cast<unsigned>(p.channels));
  if (grid.x == 0) return;  // one column is its own mirror image
  paste<<<grid, kThreads, 0, stream>>>(p, masks);
  device::check(cudaGetLastError(), "copy-paste");
}

void launch_filter(const FlatFilter& f, const LabTables* lab, cudaStream_t stream) {
  switch (f.filter.kind) {
    case FilterKind::blur:
      each_pixel<Step::blur>(f, f.channels, lab, stream);
      break;
    case FilterKind::median_blur:
      each_pixel<Step::median>(f, f.channels, lab, stream);
      break;
    case FilterKind::to_gray:
      each_pixel<Step::gray>(f, 1, lab, stream);
      break;
    case FilterKind::clahe: {
      const int planes = f.channels == 3 ? 1 : f.channels;
      if (f.channels == 3) each_pixel<Step::lab>(f, 1, lab, stream);
      const dim3 grid(static_cast<unsigned>(flat::clahe_tiles(f.filter.size_px, f.width_px)),
                      static_cast<unsigned>(flat::clahe_tiles(f.filter.size_px, f.height_px)),
                      static_cast<unsigned>(planes));
      make_tables<<<grid, kThreads, 0, stream>>>(f);
      each_pixel<Step::clahe>(f, planes, lab, stream);
      break;
    }
  }
  device::check(cudaGetLastError(), "filter a sample");
}

}  // namespace yoload
