// What the public API throws when data or system fail: the message in parts, for programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace yoload {

/// Options that make no sense throw std::invalid_argument instead.
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, std::string path, std::string stage, std::string cause)
      : std::runtime_error(message),
        path_(std::move(path)),
        stage_(std::move(stage)),
        cause_(std::move(cause)) {}

  const std::string& path() const { return path_; }    ///< file it is about, or ""
  const std::string& stage() const { return stage_; }  ///< dataset, storage, decode, ...
  const std::string& cause() const { return cause_; }

 private:
  std::string path_, stage_, cause_;
};

/// next() after close().
class Closed : public Error {
 public:
  Closed() : Error("the loader is closed", "", "pipeline", "the loader is closed") {}
};

}  // namespace yoload
