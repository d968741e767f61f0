// SPDX-License-Identifier: Apache-2.0
#include "decode/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace yoload::decode {
namespace {

constexpr size_t kWindowBytes = size_t{64} << 10;

template <size_t kBytes>
bool read_unsigned(ByteSource& source, uint64_t offset, bool big_endian, uint64_t* value) {
  std::array<uint8_t, kBytes> raw;
  if (!source.read(offset, raw)) return false;
  *value = 0;
  for (size_t i = 0; i < kBytes; ++i) {
    *value = *value << 8 | raw[big_endian ? i : kBytes - 1 - i];
  }
  return true;
}

// Reads until the buffer is full, the file ends or the system refuses.
size_t pread_fully(int fd, uint8_t* out, size_t bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(fd, out + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace

bool ByteSource::u8(uint64_t offset, uint32_t* value) {
  uint64_t wide = 0;
  if (!read_unsigned<1>(*this, offset, true, &wide)) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool ByteSource::u16(uint64_t offset, bool big_endian, uint32_t* value) {
  uint64_t wide = 0;
  if (!read_unsigned<2>(*this, offset, big_endian, &wide)) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool ByteSource::u32(uint64_t offset, bool big_endian, uint32_t* value) {
  uint64_t wide = 0;
  if (!read_unsigned<4>(*this, offset, big_endian, &wide)) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool ByteSource::u64(uint64_t offset, bool big_endian, uint64_t* value) {
  return read_unsigned<8>(*this, offset, big_endian, value);
}

bool ByteSource::matches(uint64_t offset, std::string_view text) {
  std::array<uint8_t, 64> raw;
  if (text.size() > raw.size()) return false;
  if (!read(offset, std::span(raw).first(text.size()))) return false;
  return std::memcmp(raw.data(), text.data(), text.size()) == 0;
}

bool MemorySource::read(uint64_t offset, std::span<uint8_t> out) {
  if (offset > bytes_.size() || out.size() > bytes_.size() - offset) return false;
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return true;
}

FileSource::~FileSource() {
  if (fd_ >= 0) ::close(fd_);
}

int FileSource::open(const std::string& path) {
  // Non-blocking, so that a named pipe in a data set cannot hold the scan up.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) return errno;
  struct stat facts {};
  if (fstat(fd_, &facts) != 0) return errno;
  if (S_ISDIR(facts.st_mode)) return EISDIR;
  if (!S_ISREG(facts.st_mode)) return EINVAL;
  size_ = static_cast<uint64_t>(facts.st_size);
  return 0;
}

bool FileSource::read(uint64_t offset, std::span<uint8_t> out) {
  if (offset > size_ || out.size() > size_ - offset) return false;
  if (out.size() > kWindowBytes) {
    return pread_fully(fd_, out.data(), out.size(), offset) == out.size();
  }
  const bool inside = offset >= window_start_ && offset - window_start_ <= window_.size() &&
                      out.size() <= window_.size() - (offset - window_start_);
  if (!inside) {
    window_.resize(static_cast<size_t>(std::min<uint64_t>(kWindowBytes, size_ - offset)));
    window_.resize(pread_fully(fd_, window_.data(), window_.size(), offset));
    window_start_ = offset;
    if (window_.size() < out.size()) return false;
  }
  if (!out.empty()) std::memcpy(out.data(), window_.data() + (offset - window_start_), out.size());
  return true;
}

}  // namespace yoload::decode
