// Loader options by name and as text, for callers that cannot see the structure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"
#include "yoload/options.h"

namespace yoload {

/// Sets one option. Refuses unknown names, naming the nearest, and values that do not read as the
/// option's type; whether a value makes sense is the loader's business.
Status set_option(std::string_view name, std::string_view value, LoaderOptions* options);

/// All names with type and default, one a line.
std::string option_help();

}  // namespace yoload
