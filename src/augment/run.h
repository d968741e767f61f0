// The executors: a SamplePlan and its tiles -> the pixels of one sample in its place of the batch.
//
// run_ref is one obvious loop over output pixels; run_simd works on rows with vector kernels. Both
// give the same bytes for every plan (run_test.cpp). Order: layers, mix, filters, HSV, flips and
// channel order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/image.h"
#include "core/plan.h"
#include "core/render_target.h"

namespace yoload {

/// Buffers that a thread reuses from sample to sample. Not shared between threads.
class RenderScratch {
 public:
  RenderScratch();
  ~RenderScratch();
  RenderScratch(RenderScratch&&) noexcept;
  RenderScratch& operator=(RenderScratch&&) noexcept;

  struct Buffers;
  Buffers& buffers() { return *buffers_; }

 private:
  std::unique_ptr<Buffers> buffers_;
};

/// tiles[i] holds the pixels of plan.sources[i]: in `exact` of exactly that size, in `fused` of any
/// size.
void run_ref(const SamplePlan& plan, std::span<const ImageView> tiles, const RenderTarget& target,
             RenderScratch& scratch);
void run_simd(const SamplePlan& plan, std::span<const ImageView> tiles, const RenderTarget& target,
              RenderScratch& scratch);

/// Restricts the vector instructions of this process: "avx3", "avx2", "sse4", "scalar"; "" is the
/// best the machine has. For tests and comparisons; throws std::invalid_argument for other names.
void set_simd_target(std::string_view name);
/// The instruction set in use, as Highway calls it.
std::string_view simd_target();

}  // namespace yoload
