// Launches of the kernels that CudaRenderer puts together. Arguments are in device memory, but for
// structures passed by value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "augment/flat_plan.h"
#include "augment/flat_render.h"
#include "augment/lab.h"

namespace yoload {

/// Samples step.first and on; `output` as the step asks for.
void launch_render(const FlatStep& step, const FlatSample* samples, const flat::FlatArrays& arrays,
                   const FlatOutput& output, cudaStream_t stream);
void launch_paste(const FlatPaste& paste, const uint32_t* masks, cudaStream_t stream);
void launch_filter(const FlatFilter& filter, const LabTables* lab, cudaStream_t stream);

}  // namespace yoload
