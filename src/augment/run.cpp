// SPDX-License-Identifier: Apache-2.0
#include "augment/run.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <stdexcept>
#include <string>

#include "augment/scratch.h"

namespace yoload {

RenderScratch::RenderScratch() : buffers_(std::make_unique<Buffers>()) {}
RenderScratch::~RenderScratch() = default;
RenderScratch::RenderScratch(RenderScratch&&) noexcept = default;
RenderScratch& RenderScratch::operator=(RenderScratch&&) noexcept = default;

void set_simd_target(std::string_view name) {
  // Highway's targets are bits, the better the lower; what is disabled falls to the next one.
  int64_t disabled = 0;
#if HWY_ARCH_X86
  if (name == "avx2") {
    disabled = HWY_AVX2 - 1;
  } else if (name == "sse4") {
    disabled = HWY_SSE4 - 1;
  } else
#endif
      if (name == "scalar") {
    disabled = (HWY_EMU128 < HWY_SCALAR ? HWY_EMU128 : HWY_SCALAR) - 1;
  } else if (!name.empty() && name != "avx3") {
    throw std::invalid_argument("simd = " + std::string(name) +
                                ": expected avx3, avx2, sse4, scalar or ref");
  }
  hwy::DisableTargets(disabled);
  hwy::GetChosenTarget().DeInit();
}

std::string_view simd_target() {
  const int64_t targets = hwy::SupportedTargets();
  return hwy::TargetName(targets & -targets);
}

}  // namespace yoload
