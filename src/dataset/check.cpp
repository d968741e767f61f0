// SPDX-License-Identifier: Apache-2.0
#include "dataset/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include "dataset/discovery.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;

// Files that labelling tools leave among the labels.
bool is_class_list(const fs::path& path) {
  return path.filename() == "classes.txt";
}

/// Is there a picture with this label file's stem where its picture would be?
bool has_picture(const fs::path& label) {
  std::string folder = label.parent_path().string() + "/";
  const size_t at = folder.rfind("/labels/");
  if (at != std::string::npos) folder.replace(at, 8, "/images/");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().stem() == label.stem() && has_picture_suffix(entry.path().string()))
      return true;
  }
  return false;
}

void warn(const char* kind, const std::string& path, std::string cause,
          std::vector<Problem>* problems) {
  problems->push_back({Problem::Severity::warning, kind, path, 0, std::move(cause), ""});
}

}  // namespace

void find_orphan_labels(const DatasetIndex& index, std::vector<Problem>* problems) {
  std::set<std::string> labels, folders;
  for (size_t i = 0; i < index.images.size(); ++i) {
    const std::string label = label_path_of(index.path(i));
    folders.insert(fs::path(label).parent_path().string());
    labels.insert(label);
  }
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".txt" || is_class_list(path) || labels.contains(path.string()))
        continue;
      if (!has_picture(path))
        warn("orphan_label", path.string(), "there is no picture for this label file", problems);
    }
  }
}

void find_duplicates(const CheckedSplit& split, std::vector<Problem>* problems) {
  std::unordered_map<uint64_t, size_t> first;
  for (size_t i = 0; i < split.facts.size(); ++i) {
    const uint64_t hash = split.facts[i].content_hash;
    if (hash == 0) continue;
    const auto [entry, is_new] = first.try_emplace(hash, i);
    // A line that stands twice in a list is oversampling, not a copy.
    if (is_new || split.index->path(entry->second) == split.index->path(i)) continue;
    warn("duplicate_image", split.index->path(i),
         "has the same bytes as " + split.index->path(entry->second), problems);
  }
}

void find_leaks(const CheckedSplit& train, const CheckedSplit& other,
                std::vector<Problem>* problems) {
  std::unordered_map<uint64_t, size_t> in_train;
  for (size_t i = 0; i < train.facts.size(); ++i) {
    if (train.facts[i].content_hash != 0) in_train.try_emplace(train.facts[i].content_hash, i);
  }
  for (size_t i = 0; i < other.facts.size(); ++i) {
    const auto found = in_train.find(other.facts[i].content_hash);
    if (found == in_train.end()) continue;
    warn("leak", other.index->path(i),
         fmt::format("this picture of '{}' is in '{}' too: {}", other.name, train.name,
                     train.index->path(found->second)),
         problems);
  }
}

void find_thin_split(const CheckedSplit& split, std::vector<Problem>* problems) {
  const size_t images = split.index->images.size();
  if (images < 10) {
    problems->push_back({Problem::Severity::note, "few_images", split.index->root, 0,
                         fmt::format("the split '{}' has {} pictures only", split.name, images),
                         ""});
  }
  if (split.index->rows.empty() && images > 0) {
    warn("no_objects", split.index->root,
         fmt::format("the split '{}' has no object at all", split.name), problems);
  }
}

BoxSizes box_sizes(const DatasetIndex& index, int imgsz) {
  BoxSizes sizes;
  for (const ImageRecord& image : index.images) {
    const double ratio =
        static_cast<double>(imgsz) / std::max({image.width_px, image.height_px, 1});
    for (uint64_t i = image.first_row; i < image.first_row + image.rows; ++i) {
      const double w = index.rows[i].w * image.width_px * ratio,
                   h = index.rows[i].h * image.height_px * ratio;
      const double area = w * h;
      ++(area < 8 * 8     ? sizes.tiny
         : area < 32 * 32 ? sizes.small
         : area < 96 * 96 ? sizes.medium
                          : sizes.large);
      sizes.under_filter += w <= 2 || h <= 2 || std::max(w / h, h / w) >= 100 ? 1 : 0;
    }
  }
  return sizes;
}

}  // namespace yoload
