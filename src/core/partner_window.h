// The positions of an epoch that a sample's mosaic and mixup partners come from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace yoload {

/// first, first + stride, ...: `count` positions.
struct PartnerWindow {
  uint64_t first = 0;
  uint32_t count = 1;
  uint32_t stride = 1;

  uint64_t at(uint32_t i) const { return first + static_cast<uint64_t>(i) * stride; }
};

}  // namespace yoload
