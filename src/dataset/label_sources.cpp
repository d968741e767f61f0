// SPDX-License-Identifier: Apache-2.0
#include "dataset/label_sources.h"

#include <unordered_map>

#include "dataset/discovery.h"
#include "dataset/text_file.h"

namespace yoload {
namespace {

class YoloTxtLabels final : public LabelSource {
 public:
  explicit YoloTxtLabels(const LabelRules& rules) : rules_(rules) {}

  ParsedLabels labels_of(const std::string& image_path, const ImageInfo& /*info*/) override {
    const std::string path = label_file_of(image_path);
    const Result<std::string> text = read_text_file(path);
    ParsedLabels labels;
    if (text.ok()) {
      labels = parse_yolo_txt(*text, rules_);
      for (Problem& problem : labels.problems) problem.path = path;
    } else if (text.status().code() != Code::not_found) {
      labels.problems.push_back({Problem::Severity::error, "unreadable_label", path, 0,
                                 text.status().message(), "drops the whole image"});
    }
    return labels;
  }

  std::string label_file_of(const std::string& image_path) const override {
    return label_path_of(image_path);
  }

 private:
  const LabelRules rules_;
};

class ClassFolderLabels final : public LabelSource {
 public:
  ClassFolderLabels(const std::string& root, const std::vector<std::string>& names)
      : prefix_bytes_(root.size() + (root.ends_with('/') ? 0 : 1)) {
    for (const std::string& name : names) {
      classes_.emplace(name, static_cast<float>(classes_.size()));
    }
  }

  ParsedLabels labels_of(const std::string& image_path, const ImageInfo& /*info*/) override {
    const size_t end = image_path.find('/', prefix_bytes_);
    ParsedLabels labels;
    const auto found = classes_.find(image_path.substr(prefix_bytes_, end - prefix_bytes_));
    if (found != classes_.end()) labels.rows.push_back({found->second, 0.5F, 0.5F, 1, 1});
    return labels;
  }

 private:
  const size_t prefix_bytes_;
  std::unordered_map<std::string, float> classes_;
};

}  // namespace

std::unique_ptr<LabelSource> yolo_txt_labels(const LabelRules& rules) {
  return std::make_unique<YoloTxtLabels>(rules);
}

std::unique_ptr<LabelSource> class_folder_labels(const std::string& root,
                                                 const std::vector<std::string>& names) {
  return std::make_unique<ClassFolderLabels>(root, names);
}

}  // namespace yoload
