// Labels in one file a picture that has the picture's stem, with classes by name (VOC, DOTA).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/label_source.h"
#include "dataset/pixel_box.h"
#include "dataset/text_file.h"

namespace yoload {

/// Reads the labels of one file.
using ParseNamedLabels = ParsedLabels (*)(std::string_view text, const std::string& path,
                                          const ImageInfo& info,
                                          const std::vector<std::string>& names);

/// The label file of a picture in such a folder.
inline std::string stem_label_path(const std::string& folder, const std::string& image_path,
                                   const std::string& suffix) {
  return folder + "/" + std::filesystem::path(image_path).stem().string() + suffix;
}

class StemLabels final : public LabelSource {
 public:
  /// Labels lie in `folder` and end with `suffix` (".xml").
  StemLabels(std::string folder, std::string suffix, std::vector<std::string> names,
             ParseNamedLabels parse)
      : folder_(std::move(folder)),
        suffix_(std::move(suffix)),
        names_(std::move(names)),
        parse_(parse) {}

  ParsedLabels labels_of(const std::string& image_path, const ImageInfo& info) override {
    const std::string path = label_file_of(image_path);
    const Result<std::string> text = read_text_file(path);
    if (text.ok()) return parse_(*text, path, info, names_);
    ParsedLabels labels;
    if (text.status().code() != Code::not_found) {
      complain("unreadable_label", path, 0, text.status().message(), &labels);
    }
    return labels;
  }

  std::string label_file_of(const std::string& image_path) const override {
    return stem_label_path(folder_, image_path, suffix_);
  }

  // Labels name their classes: another list gives them other numbers.
  std::string identity() const override {
    std::string text = suffix_ + "\n";
    for (const std::string& name : names_) text += name + "\n";
    return text;
  }

 private:
  const std::string folder_, suffix_;
  const std::vector<std::string> names_;
  const ParseNamedLabels parse_;
};

inline bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace yoload
