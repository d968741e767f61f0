// Launches of the resizing kernels; arrays are in device memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "augment/flat_resize.h"

namespace yoload {

/// The largest extents of the jobs of a launch.
struct ResizeExtents {
  int jobs = 0, from_height_px = 0, to_width_px = 0, to_height_px = 0, channels = 0;
};

void launch_bilinear(const FlatResize* jobs, const ResizeExtents& extents, cudaStream_t stream);
/// Both passes.
void launch_antialiased(const FlatResize* jobs, const FlatTaps::Tap* taps, const int32_t* weights,
                        const ResizeExtents& extents, cudaStream_t stream);

}  // namespace yoload
