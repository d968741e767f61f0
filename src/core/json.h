// Writes JSON text: commas, escapes and numbers that read back as the same value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace yoload {

/// Builds one document in call order; it trusts the caller to close what it opens. Bytes that are
/// no UTF-8 become U+FFFD, so the result is always valid JSON. Not thread-safe.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(double number);
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) JsonWriter& value(Integer number) {
    return raw(std::to_string(number));
  }
  /// Text that is JSON already.
  JsonWriter& raw(std::string_view json);

  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  std::string take() { return std::move(text_); }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void append_string(std::string_view text);

  std::string text_;
  bool need_comma_ = false;
};

}  // namespace yoload
