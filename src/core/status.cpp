// SPDX-License-Identifier: Apache-2.0
#include "core/status.h"

#include <array>

namespace yoload {

std::string_view name(Code code) {
  constexpr std::array<std::string_view, 12> kNames = {
      "ok",        "corrupt",       "truncated",        "unsupported", "limit",     "io error",
      "not found", "out of memory", "invalid argument", "changed",     "cancelled", "gpu error"};
  return kNames.at(static_cast<size_t>(code));
}

std::string_view name(Stage stage) {
  constexpr std::array<std::string_view, 10> kNames = {"none",     "dataset", "sampler", "storage",
                                                       "cache",    "decode",  "augment", "batch",
                                                       "transfer", "pipeline"};
  return kNames.at(static_cast<size_t>(stage));
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  std::string text;
  if (!path_.empty()) text += path_ + ": ";
  if (stage_ != Stage::none) text.append(name(stage_)).append(": ");
  text.append(name(code_));
  if (!message_.empty()) text.append(": ").append(message_);
  return text;
}

}  // namespace yoload
