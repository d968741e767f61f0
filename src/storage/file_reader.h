// Reads whole files into recycled buffers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/buffer.h"
#include "core/status.h"

namespace yoload {

/// A file that is larger than this is not a picture anybody trains on; the bound keeps a sparse or
/// special file from taking the machine's memory.
inline constexpr uint64_t kMaxFileBytes = uint64_t{2} << 30;

/// The bytes of a regular file as they are now, even if it shrinks or grows while being read.
/// `pool` may be null. Errors: not_found, io, limit.
Result<Buffer> read_file(const std::string& path, BufferPool* pool,
                         uint64_t max_bytes = kMaxFileBytes);

/// The same into memory that `memory(bytes)` gives, once the size is known. The result is the
/// number of bytes that were there.
Result<size_t> read_file_into(const std::string& path,
                              const std::function<uint8_t*(size_t bytes)>& memory,
                              uint64_t max_bytes = kMaxFileBytes);

}  // namespace yoload
