// The loader's settings in JSON, so that a result file says how it was made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/json.h"
#include "yoload/options.h"

namespace yoload::cli {

std::string_view name(Fidelity fidelity);
std::string_view name(CacheMode mode);

/// Writes fields into the object that is open in `json`.
void write_settings(const LoaderOptions& options, JsonWriter* json);

}  // namespace yoload::cli
