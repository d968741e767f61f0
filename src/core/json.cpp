// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace yoload {
namespace {

/// Length of the valid UTF-8 sequence at the start of `text`, or 0 (RFC 3629: no overlong forms, no
/// surrogates, at most U+10FFFF).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

void JsonWriter::separate() {
  if (need_comma_) text_ += ',';
  need_comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_string(name);
  text_ += ':';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  // JSON knows neither NaN nor infinity.
  return raw(std::isfinite(number) ? fmt::format("{}", number) : "null");
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_string(text);
  return *this;
}

void JsonWriter::append_string(std::string_view text) {
  text_ += '"';
  for (; !text.empty();) {
    const char c = text.front();
    const size_t length = utf8_length(text);
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      case '\t':
        text_ += "\\t";
        break;
      case '\r':
        text_ += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (length == 0) {
          text_ += "\\ufffd";  // file names may hold any bytes, JSON may not
        } else {
          text_ += text.substr(0, length);
        }
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  text_ += '"';
}

}  // namespace yoload
