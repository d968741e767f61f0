// SPDX-License-Identifier: Apache-2.0
#include "yoload/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>

namespace yoload::cli {

std::optional<uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !(number >= 0)) return std::nullopt;

  std::string unit;
  for (char c : text.substr(static_cast<size_t>(end - text.data()))) {
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (!unit.empty() && unit.back() == 'b') unit.pop_back();
  double factor = 1;
  if (!unit.empty()) {
    const bool binary = unit.size() == 2 && unit[1] == 'i';
    const size_t power = std::string_view("kmgt").find(unit[0]);
    if (power == std::string_view::npos || (unit.size() != 1 && !binary)) return std::nullopt;
    for (size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
  }
  const double bytes = number * factor;
  if (!(bytes < 0x1p63)) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::string format_bytes(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, kUnits[unit]);
}

}  // namespace yoload::cli
