// Resizes a batch of decoded pictures in device memory to training size, turning them upright on
// the way, with the same bytes as orienting and then resizing on the CPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <vector>

#include "augment/cuda/staging.h"
#include "augment/flat_resize.h"
#include "device/cuda/memory.h"
#include "device/cuda/stream.h"

namespace yoload {

struct CudaResizeLimits {
  int batches_in_flight = 4;             ///< as CudaRenderLimits'
  size_t job_bytes = size_t{256} << 10;  ///< 160 a picture, and the weights of `antialias`
  /// Pictures between the two passes of `antialias`. Less costs more launches; what one picture
  /// needs is allocated in any case.
  size_t scratch_bytes = 0;
};

/// Resizes on the device that was current when it was made. Used by one thread at a time.
class CudaResizer {
 public:
  explicit CudaResizer(const CudaResizeLimits& limits = {});

  /// Enqueues all jobs: bilinear as resize_bilinear_ref, or as resize_antialiased. Sizes of `to`
  /// are upright. Pixels of both sides must stay until the stream has passed.
  void resize(std::span<const ResizeJob> jobs, bool antialias, cudaStream_t stream);

 private:
  /// Jobs [first, first + count) of jobs_ whose middle pictures fit together.
  struct Round {
    size_t first = 0, count = 0;
  };
  void place_narrowed();

  Staging staging_;
  device::DeviceBlock scratch_;
  device::Event scratch_passed_;
  bool scratch_used_ = false;
  std::vector<FlatResize> jobs_;
  FlatTaps taps_;
  std::vector<Round> rounds_;
};

}  // namespace yoload
