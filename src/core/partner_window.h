// The run of epoch positions that the mosaic and mixup partners of one sample are drawn from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace yoload {

/// The positions first, first + stride, ..., `count` of them; the sample's own is among them.
struct PartnerWindow {
  uint64_t first = 0;
  uint32_t count = 1;
  uint32_t stride = 1;

  uint64_t at(uint32_t i) const { return first + uint64_t{i} * stride; }
};

}  // namespace yoload
