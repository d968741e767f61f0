// Result and Status: how stages report bad data and failed system calls without exceptions.
//
// Bad data is normal here: a stage returns a Status with a code, the stage and the file, and the
// run goes on. Misuse of the public API throws std::invalid_argument at the API edge instead.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace yoload {

enum class Code : unsigned char {
  ok,
  corrupt,      ///< the bytes contradict their own format
  truncated,    ///< the bytes end before the picture or document does
  unsupported,  ///< valid, but a kind that this build does not decode
  limit,        ///< refused by a pixel, scan, memory or time limit; the message names the option
  io,           ///< the operating system said no
  not_found,    ///< the file or key does not exist
  out_of_memory,
  invalid_argument,  ///< a configuration file or option has a value that makes no sense
  changed,           ///< the file is not the one that was scanned
  cancelled,         ///< the loader is shutting down
  device,            ///< the GPU or its driver said no
};

enum class Stage : unsigned char {
  none,
  dataset,
  sampler,
  storage,
  cache,
  decode,
  augment,
  batch,
  transfer,
  pipeline
};

std::string_view name(Code code);
std::string_view name(Stage stage);

/// What went wrong, where, and with which file. A default-made Status is success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, Stage stage, std::string message, std::string path = {})
      : code_(code), stage_(stage), message_(std::move(message)), path_(std::move(path)) {}

  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  Stage stage() const { return stage_; }
  const std::string& message() const { return message_; }
  const std::string& path() const { return path_; }

  /// The same failure, naming `path` where no path was known before.
  Status with_path(std::string path) && {
    if (path_.empty()) path_ = std::move(path);
    return std::move(*this);
  }

  /// One line for people: "photo.jpg: decode: truncated: ...".
  std::string to_string() const;

 private:
  Code code_ = Code::ok;
  Stage stage_ = Stage::none;
  std::string message_;
  std::string path_;
};

/// A value or the Status that explains why there is none. Check ok() before value().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : data_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Status status) : data_(std::in_place_index<1>, std::move(status)) {}  // NOLINT

  bool ok() const { return data_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(data_); }
  const T& value() const& { return std::get<0>(data_); }
  T&& value() && { return std::get<0>(std::move(data_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Status& status() const& { return std::get<1>(data_); }
  Status&& status() && { return std::get<1>(std::move(data_)); }

 private:
  std::variant<T, Status> data_;
};

}  // namespace yoload
