// SPDX-License-Identifier: Apache-2.0
#include "dataset/discovery.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <system_error>

#include "dataset/data_yaml.h"
#include "dataset/text_file.h"
#include "dataset/text_lines.h"

namespace yoload {
namespace {

enum class Kind : uint8_t { folder, file, other };

Kind kind_of(const std::string& path, const dirent& entry) {
  if (entry.d_type == DT_DIR) return Kind::folder;
  if (entry.d_type == DT_REG) return Kind::file;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return Kind::other;
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return Kind::other;
  return S_ISDIR(facts.st_mode) ? Kind::folder : S_ISREG(facts.st_mode) ? Kind::file : Kind::other;
}

/// Calls visit(path, kind) for the entries of one folder, in no order.
template <class Visit>
Status for_each_entry(const std::string& folder, Visit visit) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) {
    const Code code = errno == ENOENT ? Code::not_found : Code::io;
    return Status(code, Stage::dataset, std::generic_category().message(errno), folder);
  }
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    const std::string path = prefix + entry->d_name;
    visit(path, kind_of(path, *entry));
  }
  closedir(dir);
  return {};
}

/// Adds the pictures below `folder`, unsorted. Folders are read once each, so links cannot loop.
Status walk(const std::string& folder, PictureList& list) {
  std::set<std::pair<dev_t, ino_t>> seen;
  std::vector<std::string> waiting = {folder};
  while (!waiting.empty()) {
    const std::string current = std::move(waiting.back());
    waiting.pop_back();
    struct stat facts {};
    if (stat(current.c_str(), &facts) == 0 && !seen.emplace(facts.st_dev, facts.st_ino).second) {
      continue;
    }
    Status status = for_each_entry(current, [&](const std::string& path, Kind kind) {
      if (kind == Kind::folder) waiting.push_back(path);
      const bool picture = has_picture_suffix(path) || (list.with_arrays && path.ends_with(".npy"));
      if (kind == Kind::file && picture) list.paths.push_back(path);
    });
    if (status.ok()) continue;
    if (current == folder) return status;
    list.problems.push_back(
        {Problem::Severity::error, "unreadable_folder", current, 0, status.message(), "skips it"});
  }
  return {};
}

Status add_list(const std::string& source, PictureList& list) {
  Result<std::string> text = read_text_file(source);
  if (!text.ok()) return std::move(text).status();
  const std::string folder = source.substr(0, source.rfind('/') + 1);
  TextLines lines(*text);
  while (lines.next()) {
    const std::string line(lines.line());
    const std::string path = absolute_path(line.starts_with('/') ? line : folder + line);
    if (line.find('\0') == std::string::npos && file_key(path).exists()) {
      list.paths.push_back(path);
    } else {
      list.problems.push_back({Problem::Severity::error, "missing_image", source, lines.number(),
                               "there is no file " + path, "fails later"});
    }
  }
  return {};
}

/// Start of the suffix, dot included; the size of `path` where the file name has none.
size_t suffix_start(std::string_view path) {
  const size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos || dot <= name ? path.size() : dot;
}

}  // namespace

FileKey file_key(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  return {static_cast<uint64_t>(facts.st_size),
          int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

bool has_picture_suffix(std::string_view path) {
  constexpr std::array<std::string_view, 14> kSuffixes = {
      ".avif", ".bmp", ".dng", ".gif", ".heic", ".heif", ".jpeg",
      ".jpg",  ".mpo", ".pfm", ".png", ".tif",  ".tiff", ".webp"};
  std::string suffix(path.substr(suffix_start(path)));
  for (char& c : suffix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

Status add_pictures(const std::string& source, PictureList& list) {
  struct stat facts {};
  if (stat(source.c_str(), &facts) != 0) {
    return Status(Code::not_found, Stage::dataset, "there is no such folder or list", source);
  }
  if (!S_ISDIR(facts.st_mode)) return add_list(source, list);
  const auto first = static_cast<std::ptrdiff_t>(list.paths.size());
  Status status = walk(source, list);
  std::sort(list.paths.begin() + first, list.paths.end());
  return status;
}

Result<PictureList> list_class_folders(const std::string& folder) {
  std::vector<std::string> folders;
  Status status = for_each_entry(folder, [&](const std::string& path, Kind kind) {
    if (kind == Kind::folder) folders.push_back(path);
  });
  if (!status.ok()) return status;
  std::sort(folders.begin(), folders.end());
  PictureList list;
  for (const std::string& class_folder : folders) {
    status = add_pictures(class_folder, list);
    if (!status.ok()) return status;
    list.classes.resize(list.paths.size(), static_cast<int32_t>(list.names.size()));
    list.names.push_back(class_folder.substr(class_folder.rfind('/') + 1));
  }
  return list;
}

std::string label_path_of(std::string_view picture) {
  constexpr std::string_view kImages = "/images/";
  std::string path = text_beside(picture);
  const size_t at = picture.rfind(kImages);
  if (at != std::string_view::npos) path.replace(at, kImages.size(), "/labels/");
  return path;
}

std::string text_beside(std::string_view picture) {
  return std::string(picture.substr(0, suffix_start(picture))) + ".txt";
}

}  // namespace yoload
