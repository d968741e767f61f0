// A sample's random numbers as JSON, for `yoload explain` and the parity tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augment/plan.h"
#include "core/json.h"

namespace yoload {

/// Adds one object. What a gate left undrawn has its default value: `mix` and the number of
/// positions of a layer say what was drawn.
void write_draws(const SampleDraws& draws, JsonWriter* json);

}  // namespace yoload
