// Byte sizes as people write them: "256MB", "1GiB", "4096".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yoload::cli {

/// "1.5GB" -> 1500000000, "1GiB" -> 1073741824, "4096" -> 4096. Units: B, k/M/G/T with or without B
/// (powers of 1000), Ki/Mi/Gi/Ti (powers of 1024); case does not matter. Empty for anything else,
/// for negative numbers and for what does not fit 63 bits.
std::optional<uint64_t> parse_bytes(std::string_view text);

/// Three significant digits with a decimal unit: 1500000 -> "1.5 MB".
std::string format_bytes(uint64_t bytes);

}  // namespace yoload::cli
