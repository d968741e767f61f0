// SPDX-License-Identifier: Apache-2.0
#include "dataset/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace yoload {
namespace {

std::string error_text(int error) {
  return std::generic_category().message(error);
}

Result<std::string> read_open_file(int fd, const std::string& path, uint64_t max_bytes) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return Status(Code::io, Stage::dataset, error_text(errno), path);
  if (!S_ISREG(facts.st_mode)) return Status(Code::io, Stage::dataset, "not a regular file", path);
  if (static_cast<uint64_t>(facts.st_size) > max_bytes) {
    return Status(Code::limit, Stage::dataset,
                  "text file of " + std::to_string(facts.st_size) + " bytes, at most " +
                      std::to_string(max_bytes) + " are read",
                  path);
  }
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(fd, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status(Code::io, Stage::dataset, error_text(errno), path);
    if (got == 0) break;  // the file shrank meanwhile
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, uint64_t max_bytes) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const Code code = errno == ENOENT || errno == ENOTDIR ? Code::not_found : Code::io;
    return Status(code, Stage::dataset, error_text(errno), path);
  }
  Result<std::string> text = read_open_file(fd, path, max_bytes);
  ::close(fd);
  return text;
}

}  // namespace yoload
