// Finds the pictures of a data set and the label file that belongs to each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "dataset/parsed_labels.h"

namespace yoload {

/// Size and modification time: what tells a changed file from an unchanged one.
struct FileKey {
  static constexpr uint64_t kAbsent = ~uint64_t{0};
  uint64_t bytes = kAbsent;
  int64_t mtime_ns = 0;

  bool exists() const { return bytes != kAbsent; }
  bool operator==(const FileKey&) const = default;
};

/// Key of a regular file, links followed; absent for anything else.
FileKey file_key(const std::string& path);

struct PictureList {
  bool with_arrays = false;  ///< set first: .npy files are pictures (channels neither 1 nor 3)
  std::vector<std::string> paths;  ///< absolute
  std::vector<int32_t> classes;    ///< class folders only, in step with `paths`
  std::vector<std::string> names;  ///< class folders only
  std::vector<Problem> problems;   ///< missing files of a list, folders that cannot be read
};

/// Is this the suffix of a picture? In any letter case. `.npy` is not: other loaders leave such
/// caches beside pictures.
bool has_picture_suffix(std::string_view path);

/// Appends the pictures of a folder (recursive, sorted by path, names that begin with a dot
/// skipped, a folder that links reach twice read once) or of a list file (in its order, repeated
/// lines kept: that is how people oversample). Paths are never patterns. Errors: not_found, io.
Status add_pictures(const std::string& source, PictureList& list);

/// Pictures of a tree with one folder per class; the class order is the sorted folder names.
Result<PictureList> list_class_folders(const std::string& folder);

/// Where the label of a picture lies: the last `/images/` becomes `/labels/` (if there is one) and
/// the suffix `.txt`.
std::string label_path_of(std::string_view picture);

/// The `.txt` beside a picture: not its label, if label_path_of says otherwise.
std::string text_beside(std::string_view picture);

}  // namespace yoload
