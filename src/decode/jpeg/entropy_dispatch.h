// The entropy loop for this machine's instruction set. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "decode/jpeg/entropy_lane.h"

namespace yoload::decode::jpeg {

inline constexpr size_t kMostLanes = 4;

/// Runs 1..kMostLanes lanes, all of them running, until at least one is not. `portable` leaves out
/// special instructions, for tests.
void decode_lanes(std::span<Lane* const> lanes, bool portable);

}  // namespace yoload::decode::jpeg
