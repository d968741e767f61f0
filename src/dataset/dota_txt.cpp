// SPDX-License-Identifier: Apache-2.0
#include "dataset/dota_txt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "dataset/pixel_box.h"
#include "dataset/stem_labels.h"
#include "dataset/text_file.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> tokens_of(std::string_view line) {
  std::vector<std::string_view> tokens;
  constexpr std::string_view kBlanks = " \t\r";
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    tokens.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return tokens;
}

/// Calls visit(line number, tokens) for every line that holds an object.
template <class Visit>
void for_each_object(std::string_view text, const Visit& visit) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  uint32_t line = 0;
  while (!text.empty()) {
    ++line;
    const size_t end = std::min(text.find('\n'), text.size());
    const auto tokens = tokens_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (tokens.empty() || tokens[0].starts_with("imagesource:") || tokens[0].starts_with("gsd:"))
      continue;
    visit(line, tokens);
  }
}

}  // namespace

ParsedLabels parse_dota(std::string_view text, const std::string& path, const ImageInfo& info,
                        const std::vector<std::string>& names) {
  ParsedLabels labels;
  for_each_object(text, [&](uint32_t line, const std::vector<std::string_view>& tokens) {
    if (tokens.size() != 9 && tokens.size() != 10) {
      complain("wrong_columns", path, line,
               fmt::format("{} columns, expected 9 or 10", tokens.size()), &labels);
      return;
    }
    std::array<double, 8> corner{};
    for (size_t i = 0; i < 8; ++i) {
      const auto [end, error] =
          std::from_chars(tokens[i].data(), tokens[i].data() + tokens[i].size(), corner[i]);
      if (error != std::errc() || end != tokens[i].data() + tokens[i].size() ||
          !std::isfinite(corner[i])) {
        complain("not_a_number", path, line, fmt::format("'{}' is not a number", tokens[i]),
                 &labels);
        return;
      }
    }
    const auto found = std::find(names.begin(), names.end(), tokens[8]);
    if (found == names.end()) {
      complain("unknown_class", path, line, fmt::format("'{}' is not in the class list", tokens[8]),
               &labels);
      return;
    }
    const auto [x0, x1] = std::minmax({corner[0], corner[2], corner[4], corner[6]});
    const auto [y0, y1] = std::minmax({corner[1], corner[3], corner[5], corner[7]});
    if (!append_pixel_box(static_cast<float>(found - names.begin()), {x0, y0, x1, y1}, info, path,
                          line, &labels)) {
      return;
    }
    labels.polygon_counts.push_back(4);
    for (size_t i = 0; i < 8; ++i) {
      labels.polygon_points.push_back(
          static_cast<float>(corner[i] / (i % 2 == 0 ? info.width_px : info.height_px)));
    }
  });
  return labels;
}

bool is_dota_folder(const std::string& folder) {
  return is_folder(folder + "/labelTxt") && is_folder(folder + "/images");
}

Result<DotaDataset> open_dota(const std::string& folder) {
  DotaDataset data;
  if (const Status status = add_pictures(folder + "/images", data.pictures); !status.ok())
    return status;
  const Result<std::string> classes = read_text_file(folder + "/classes.txt");
  if (classes.ok()) {
    for_each_object(*classes, [&](uint32_t, const std::vector<std::string_view>& tokens) {
      data.names.emplace_back(tokens[0]);
    });
  } else {
    std::set<std::string> names;
    for (const std::string& picture : data.pictures.paths) {
      const Result<std::string> text =
          read_text_file(stem_label_path(folder + "/labelTxt", picture, ".txt"));
      if (!text.ok()) continue;
      for_each_object(*text, [&](uint32_t, const std::vector<std::string_view>& tokens) {
        if (tokens.size() >= 9) names.emplace(tokens[8]);
      });
    }
    data.names.assign(names.begin(), names.end());
  }
  data.labels = std::make_unique<StemLabels>(folder + "/labelTxt", ".txt", data.names, parse_dota);
  return data;
}

}  // namespace yoload
