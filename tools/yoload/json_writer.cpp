// SPDX-License-Identifier: Apache-2.0
#include "yoload/json_writer.h"

#include <fmt/format.h>

#include <cmath>

namespace yoload::cli {
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
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) text_ += ',';
  has_items_.back() = true;
  text_ += '\n';
  text_.append(2 * has_items_.size(), ' ');
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  text_ += bracket;
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  const bool had_items = has_items_.back();
  has_items_.pop_back();
  if (had_items) {
    text_ += '\n';
    text_.append(2 * has_items_.size(), ' ');
  }
  text_ += bracket;
  if (has_items_.empty()) text_ += '\n';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_quoted(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_quoted(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  return raw(std::isfinite(number) ? fmt::format("{:.9g}", number) : "null");
}
JsonWriter& JsonWriter::value(int64_t number) {
  return raw(fmt::format("{}", number));
}
JsonWriter& JsonWriter::value(uint64_t number) {
  return raw(fmt::format("{}", number));
}

JsonWriter& JsonWriter::raw(std::string_view token) {
  separate();
  text_ += token;
  return *this;
}

void JsonWriter::append_quoted(std::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace yoload::cli
