// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/render_kernels.h"
#include "device/cuda/check.h"

namespace yoload {
namespace {

// A block is two by two patches.
constexpr int kWarps = 4;
constexpr int kBlockWidth = 2 * flat::kPatchWidth, kBlockHeight = 2 * flat::kPatchHeight;

/// Which tiles of a layer the warp's patch shows: a tile a thread.
__device__ flat::Shown vote(const FlatSample& sample, const FlatLayer& layer, const FlatTile* tiles,
                            int x, int y) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const flat::Footprint at = flat::footprint(sample, layer, x, y);
  bool touched = false, holding = false;
  if (lane < layer.tiles) {
    const FlatTile& tile = tiles[layer.first_tile + lane];
    touched = flat::touches(tile, at), holding = flat::holds(tile, at);
  }
  return flat::shown(__ballot_sync(0xffffffffu, touched), __ballot_sync(0xffffffffu, holding));
}

template <FlatKind kKind>
__global__ void __launch_bounds__(32 * kWarps)
    render_samples(const FlatSample* __restrict__ samples, flat::FlatArrays arrays,
                   FlatOutput output) {
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int x = static_cast<int>(blockIdx.x) * kBlockWidth + warp % 2 * flat::kPatchWidth;
  const int y = static_cast<int>(blockIdx.y) * kBlockHeight + warp / 2 * flat::kPatchHeight;
  const FlatSample& at = samples[blockIdx.z];
  if (x >= at.width_px || y >= at.height_px) return;
  if constexpr (kKind == FlatKind::any) {
    flat::Shown shows[2];
    shows[0] = vote(at, at.layers[0], arrays.tiles, x, y);
    if (at.mix != MixKind::none) shows[1] = vote(at, at.layers[1], arrays.tiles, x, y);
    flat::render_any(at, output, arrays, x, y, shows, lane);
  } else {
    // By value: stores of bytes could change what lies behind a reference.
    const FlatSample sample = at;
    const flat::Shown shows = vote(sample, sample.layers[0], arrays.tiles, x, y);
    constexpr bool kFused = kKind == FlatKind::fused_axis || kKind == FlatKind::fused_affine;
    constexpr bool kAffine = kKind == FlatKind::exact_affine || kKind == FlatKind::fused_affine;
    flat::render_plain<kFused, kAffine>(sample, output, arrays, x, y, shows, lane);
  }
}

}  // namespace

void launch_render(const FlatStep& step, const FlatSample* samples, const flat::FlatArrays& arrays,
                   const FlatOutput& output, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((step.width_px + kBlockWidth - 1) / kBlockWidth),
                  static_cast<unsigned>((step.height_px + kBlockHeight - 1) / kBlockHeight),
                  static_cast<unsigned>(step.count));
  const FlatSample* first = samples + step.first;
  switch (step.render) {
    case FlatKind::exact_axis:
      render_samples<FlatKind::exact_axis><<<grid, 32 * kWarps, 0, stream>>>(first, arrays, output);
      break;
    case FlatKind::fused_axis:
      render_samples<FlatKind::fused_axis><<<grid, 32 * kWarps, 0, stream>>>(first, arrays, output);
      break;
    case FlatKind::exact_affine:
      render_samples<FlatKind::exact_affine>
          <<<grid, 32 * kWarps, 0, stream>>>(first, arrays, output);
      break;
    case FlatKind::fused_affine:
      render_samples<FlatKind::fused_affine>
          <<<grid, 32 * kWarps, 0, stream>>>(first, arrays, output);
      break;
    case FlatKind::any:
      render_samples<FlatKind::any><<<grid, 32 * kWarps, 0, stream>>>(first, arrays, output);
      break;
  }
  device::check(cudaGetLastError(), "render samples");
}

}  // namespace yoload
