// Reads small text files (labels, lists, configuration) whole, without trusting them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"

namespace yoload {

/// 64 MB of label text is half a million polygons; anything larger is some other file.
inline constexpr uint64_t kMaxTextBytes = uint64_t{64} << 20;

/// The bytes of a regular file. Pipes and devices are refused, not waited for.
/// Errors: not_found, io, limit.
Result<std::string> read_text_file(const std::string& path, uint64_t max_bytes = kMaxTextBytes);

}  // namespace yoload
