// The executor on the GPU: plans of a batch and their pictures in device memory -> the batch, with
// the same bytes as run_ref.
//
// What kernels compute is in flat_render.h and runs on the CPU as well (flat_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>

#include "augment/cuda/staging.h"
#include "augment/flat_plan.h"
#include "core/image.h"
#include "core/plan.h"
#include "device/cuda/memory.h"
#include "device/cuda/stream.h"
#include "yoload/options.h"

namespace yoload {

struct DeviceSample {
  const SamplePlan* plan = nullptr;
  std::span<const ImageView> tiles;  ///< as run_ref's, but their pixels lie in device memory
};

/// Where a batch goes: samples one after the other, without gaps.
struct DeviceTarget {
  void* data = nullptr;
  int width_px = 0;
  int height_px = 0;
  int channels = 3;
  DType dtype = DType::uint8;
  MemoryFormat format = MemoryFormat::contiguous;
  std::array<float, 3> mul = {1, 1, 1};  ///< channel c uses entry min(c, 2)
  std::array<float, 3> add = {0, 0, 0};
};

struct CudaRenderLimits {
  int batches_in_flight = 4;  ///< render() waits for the GPU only beyond this many
  /// Plans of a batch; 640 bytes a sample and 80 a tile, and the masks of copy-paste.
  size_t plan_bytes = size_t{1} << 20;
  /// Pictures of samples that are rendered in steps. Less costs more launches; what one sample
  /// needs is allocated in any case.
  size_t scratch_bytes = size_t{64} << 20;
};

/// Renders on the device that was current when it was made. Used by one thread at a time.
class CudaRenderer {
 public:
  explicit CudaRenderer(const CudaRenderLimits& limits = {});

  /// Enqueues a batch: upload, kernels. Plans and the arrays of views may go when it returns;
  /// pixels and target must stay until the stream has passed. Throws std::invalid_argument for a
  /// plan of another size than the target.
  void render(std::span<const DeviceSample> samples, const DeviceTarget& target,
              cudaStream_t stream);

 private:
  void grow_scratch(std::span<const DeviceSample> samples, int channels);
  void launch(const FlatOutput& output, cudaStream_t stream);

  Staging staging_;
  device::DeviceBlock scratch_;
  device::Event scratch_passed_;
  bool scratch_used_ = false;
  device::DeviceBlock lab_;  ///< LabTables
  FlatBatch batch_;
};

}  // namespace yoload
