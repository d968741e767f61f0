// Writes JSON text: objects and arrays of numbers and strings, indented, in the order given.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace yoload::cli {

/// Keys are written inside objects only: `json.key("n").value(3)`. Strings are escaped; bytes that
/// are not UTF-8 become U+FFFD, infinities and NaN become null, so the output is always valid JSON.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(double number);
  JsonWriter& value(float number) { return value(static_cast<double>(number)); }
  JsonWriter& value(int number) { return value(static_cast<int64_t>(number)); }
  JsonWriter& value(int64_t number);
  JsonWriter& value(uint32_t number) { return value(static_cast<uint64_t>(number)); }
  JsonWriter& value(uint64_t number);

  /// key(name).value(content)
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& raw(std::string_view token);
  void separate();
  void append_quoted(std::string_view text);

  std::string text_;
  std::vector<bool> has_items_;  // one a nesting level
  bool after_key_ = false;
};

}  // namespace yoload::cli
