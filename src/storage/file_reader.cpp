// SPDX-License-Identifier: Apache-2.0
#include "storage/file_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace yoload {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Status os_error(const std::string& path, const char* what) {
  const int error = errno;
  return {error == ENOENT || error == ENOTDIR ? Code::not_found
          : error == ENOMEM                   ? Code::out_of_memory
                                              : Code::io,
          Stage::storage, fmt::format("{}: {}", what, std::strerror(error)), path};
}

}  // namespace

Result<size_t> read_file_into(const std::string& path,
                              const std::function<uint8_t*(size_t bytes)>& memory,
                              uint64_t max_bytes) {
  // O_NONBLOCK keeps a named pipe from hanging the thread; it does nothing to regular files.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return os_error(path, "open");
  struct stat facts {};
  if (fstat(file.get(), &facts) != 0) return os_error(path, "stat");
  if (!S_ISREG(facts.st_mode)) return Status(Code::io, Stage::storage, "not a regular file", path);
  const auto bytes = static_cast<uint64_t>(facts.st_size);
  if (bytes > max_bytes) {
    return Status(Code::limit, Stage::storage,
                  fmt::format("{} bytes are over the limit of {}", bytes, max_bytes), path);
  }
  try {
    uint8_t* const to = memory(bytes);
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = pread(file.get(), to + done, bytes - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return os_error(path, "read");
      if (got == 0) break;  // shrank meanwhile: the decoder will say what is missing
      done += static_cast<size_t>(got);
    }
    return done;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory, Stage::storage, fmt::format("no memory for {} bytes", bytes),
                  path);
  }
}

Result<Buffer> read_file(const std::string& path, BufferPool* pool, uint64_t max_bytes) {
  Buffer buffer;
  const auto read = read_file_into(
      path,
      [&](size_t bytes) {
        buffer = pool != nullptr ? pool->acquire(bytes) : Buffer::allocate(bytes);
        return buffer.data();
      },
      max_bytes);
  if (!read.ok()) return read.status();
  buffer.shrink(*read);
  return buffer;
}

}  // namespace yoload
