// SPDX-License-Identifier: Apache-2.0
#include "dataset/voc_xml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <pugixml.hpp>
#include <set>

#include "dataset/pixel_box.h"
#include "dataset/stem_labels.h"
#include "dataset/text_file.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

uint32_t line_at(std::string_view text, ptrdiff_t offset) {
  const auto end =
      text.begin() + std::clamp<ptrdiff_t>(offset, 0, static_cast<ptrdiff_t>(text.size()));
  return static_cast<uint32_t>(1 + std::count(text.begin(), end, '\n'));
}

std::optional<double> number(const pugi::xml_node& parent, const char* tag) {
  const std::string_view text = trimmed(parent.child(tag).child_value());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Loads a document and returns its <annotation>, or a problem.
std::optional<pugi::xml_node> annotation(std::string_view xml, const std::string& path,
                                         pugi::xml_document* document, ParsedLabels* labels) {
  const auto result = document->load_buffer(xml.data(), xml.size(), pugi::parse_default);
  if (!result) {
    complain("not_well_formed", path, line_at(xml, result.offset), result.description(), labels);
    return std::nullopt;
  }
  const pugi::xml_node root = document->child("annotation");
  if (!root) {
    complain("not_voc", path, 1, "there is no <annotation> element", labels);
    return std::nullopt;
  }
  return root;
}

std::string picture_folder(const std::string& folder) {
  for (const char* name : {"/JPEGImages", "/images"}) {
    if (is_folder(folder + name)) return folder + name;
  }
  return {};
}

/// Lines of a small text file without blanks around them.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    if (!line.empty()) lines.emplace_back(line);
    at = end + 1;
  }
  return lines;
}

/// All class names in the annotations of these pictures, sorted.
std::vector<std::string> names_in(const std::string& annotations, const PictureList& pictures) {
  std::set<std::string> names;
  for (const std::string& picture : pictures.paths) {
    const Result<std::string> text = read_text_file(stem_label_path(annotations, picture, ".xml"));
    if (!text.ok()) continue;
    pugi::xml_document document;
    ParsedLabels ignored;
    const auto root = annotation(*text, "", &document, &ignored);
    if (!root) continue;
    for (const pugi::xml_node& object : root->children("object")) {
      const std::string_view name = trimmed(object.child("name").child_value());
      if (!name.empty()) names.emplace(name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

ParsedLabels parse_voc(std::string_view xml, const std::string& path, const ImageInfo& info,
                       const std::vector<std::string>& names) {
  ParsedLabels labels;
  pugi::xml_document document;
  const auto root = annotation(xml, path, &document, &labels);
  if (!root) return labels;
  for (const pugi::xml_node& object : root->children("object")) {
    const uint32_t line = line_at(xml, object.offset_debug());
    const std::string name(trimmed(object.child("name").child_value()));
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      complain("unknown_class", path, line, fmt::format("'{}' is not in the class list", name),
               &labels);
      continue;
    }
    const pugi::xml_node box = object.child("bndbox");
    if (!box) {
      complain("no_box", path, line, "the object has no <bndbox>", &labels);
      continue;
    }
    const auto xmin = number(box, "xmin"), ymin = number(box, "ymin");
    const auto xmax = number(box, "xmax"), ymax = number(box, "ymax");
    if (!xmin || !ymin || !xmax || !ymax) {
      complain("not_a_number", path, line, "a coordinate of the box is missing or not a number",
               &labels);
      continue;
    }
    // With counting from 1 and inclusive ends, equal ends would be one pixel wide: it is a click
    // that missed, and the data sets that have such boxes mean nothing by them.
    if (!(*xmax > *xmin) || !(*ymax > *ymin)) {
      complain(
          "degenerate_box", path, line,
          fmt::format("xmin {} xmax {} ymin {} ymax {}: no area{}", *xmin, *xmax, *ymin, *ymax,
                      *xmax < *xmin || *ymax < *ymin ? " (looks like x, y, width, height)" : ""),
          &labels);
      continue;
    }
    const auto cls = static_cast<float>(found - names.begin());
    if (append_pixel_box(cls, {*xmin - 1, *ymin - 1, *xmax, *ymax}, info, path, line, &labels)) {
      drop_repeated_row(path, line, &labels);
    }
  }
  return labels;
}

bool is_voc_folder(const std::string& folder) {
  return is_folder(folder + "/Annotations") && !picture_folder(folder).empty();
}

Result<VocDataset> open_voc(const std::string& folder, const std::string& split) {
  VocDataset data;
  const std::string pictures = picture_folder(folder);
  if (const Status status = add_pictures(pictures, data.pictures); !status.ok()) return status;
  const Result<std::string> wanted = read_text_file(folder + "/ImageSets/Main/" + split + ".txt");
  if (wanted.ok()) {
    const std::vector<std::string> lines = lines_of(*wanted);
    const std::set<std::string> stems(lines.begin(), lines.end());
    std::erase_if(data.pictures.paths, [&](const std::string& path) {
      return !stems.contains(fs::path(path).stem().string());
    });
  }
  const Result<std::string> classes = read_text_file(folder + "/classes.txt");
  data.names = classes.ok() ? lines_of(*classes) : names_in(folder + "/Annotations", data.pictures);
  data.labels =
      std::make_unique<StemLabels>(folder + "/Annotations", ".xml", data.names, parse_voc);
  return data;
}

}  // namespace yoload
