// Walks text by lines and by words: BOM, CRLF, lone CR and blank lines are all harmless.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace yoload {

inline constexpr std::string_view kBlanks = " \t\v\f";

inline std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Takes the next word off `line`; empty at its end.
inline std::string_view take_word(std::string_view& line) {
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return line = {};
  line.remove_prefix(first);
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  /// Moves to the next line that is not blank; false at the end.
  bool next() {
    while (!rest_.empty()) {
      const size_t end = rest_.find_first_of("\r\n");
      line_ = trimmed(rest_.substr(0, end));
      ++number_;
      if (end == std::string_view::npos) {
        rest_ = {};
      } else {
        rest_.remove_prefix(rest_.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
      }
      if (!line_.empty()) return true;
    }
    return false;
  }

  std::string_view line() const { return line_; }  ///< without blanks at either end
  uint32_t number() const { return number_; }      ///< 1-based, blank lines counted

 private:
  std::string_view rest_;
  std::string_view line_;
  uint32_t number_ = 0;
};

}  // namespace yoload
