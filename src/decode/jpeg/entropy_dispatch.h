// The entropy loop for this machine's instruction set. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "decode/jpeg/entropy_lane.h"

namespace yoload::decode::jpeg {

/// Runs 1..4 lanes, all of them running, until at least one is not. `portable` leaves out
/// special instructions, for tests.
void decode_lanes(std::span<Lane* const> lanes, bool portable);

}  // namespace yoload::decode::jpeg
