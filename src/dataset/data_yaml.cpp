// SPDX-License-Identifier: Apache-2.0
#include "dataset/data_yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "dataset/text_file.h"
#include "dataset/text_lines.h"
#include "dataset/yolo_txt.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxYamlBytes = uint64_t{16} << 20;
constexpr int kMaxKeypoints = 1000;

/// Carries a complaint out of nested readers; never leaves this file.
struct Complaint {
  std::string text;
  int line = 0;  ///< 1-based; 0 is unknown
};

[[noreturn]] void complain(const YAML::Node& node, const std::string& text) {
  throw Complaint{text, node.Mark().is_null() ? 0 : node.Mark().line + 1};
}

int read_int(const YAML::Node& node, const std::string& key, int low, int high) {
  int value = 0;
  if (!node.IsScalar() || !YAML::convert<int>::decode(node, value)) {
    complain(node, key + " is not a whole number");
  }
  if (value < low || value > high) {
    complain(node, key + " is " + std::to_string(value) + ", expected " + std::to_string(low) +
                       ".." + std::to_string(high));
  }
  return value;
}

std::vector<std::string> read_names(const YAML::Node& node) {
  std::vector<std::string> names;
  if (node.IsSequence()) {
    for (const YAML::Node& name : node) {
      if (!name.IsScalar()) complain(name, "a class name is not text");
      names.push_back(name.Scalar());
    }
    return names;
  }
  if (!node.IsMap()) complain(node, "names is neither a list nor a map");
  std::map<int, std::string> by_class;
  for (const auto& entry : node) {
    const int cls = read_int(entry.first, "a key of names", 0, kMaxClasses - 1);
    if (!entry.second.IsScalar()) complain(entry.second, "a class name is not text");
    if (!by_class.emplace(cls, entry.second.Scalar()).second) {
      complain(entry.first, "class " + std::to_string(cls) + " is named twice");
    }
  }
  for (const auto& [cls, name] : by_class) {
    if (cls != static_cast<int>(names.size())) {
      complain(node, "names has no class " + std::to_string(names.size()));
    }
    names.push_back(name);
  }
  return names;
}

void read_classes(const YAML::Node& top, DataYaml& data) {
  const YAML::Node names = top["names"], nc = top["nc"];
  if (names && !names.IsNull()) data.names = read_names(names);
  if (nc && !nc.IsNull()) {
    data.nc = read_int(nc, "nc", 1, kMaxClasses);
    if (data.names.empty()) {
      for (int i = 0; i < data.nc; ++i) data.names.push_back("class_" + std::to_string(i));
    }
    if (data.nc != static_cast<int>(data.names.size())) {
      complain(nc, "nc is " + std::to_string(data.nc) + ", but there are " +
                       std::to_string(data.names.size()) + " names");
    }
  }
  data.nc = static_cast<int>(data.names.size());
  if (data.nc == 0) throw Complaint{"neither names nor nc says what the classes are"};
  if (data.nc > kMaxClasses) complain(names, "more than 100000 classes");
}

void read_pose(const YAML::Node& top, DataYaml& data) {
  if (const YAML::Node shape = top["kpt_shape"]; shape && !shape.IsNull()) {
    if (!shape.IsSequence() || shape.size() != 2) {
      complain(shape, "kpt_shape is not [number of keypoints, 2 or 3]");
    }
    data.kpt_count = read_int(shape[0], "kpt_shape[0]", 1, kMaxKeypoints);
    data.kpt_dims = read_int(shape[1], "kpt_shape[1]", 2, 3);
  }
  if (const YAML::Node flip = top["flip_idx"]; flip && !flip.IsNull()) {
    if (!flip.IsSequence()) complain(flip, "flip_idx is not a list");
    for (const YAML::Node& index : flip) {
      data.flip_idx.push_back(read_int(index, "flip_idx", 0, kMaxKeypoints - 1));
    }
    std::vector<int> sorted = data.flip_idx;
    std::sort(sorted.begin(), sorted.end());
    bool permutes = static_cast<int>(sorted.size()) == data.kpt_count;
    for (size_t i = 0; i < sorted.size(); ++i) permutes &= sorted[i] == static_cast<int>(i);
    if (!permutes) {
      complain(flip, "flip_idx has to hold each of the " + std::to_string(data.kpt_count) +
                         " keypoints of kpt_shape once");
    }
  }
}

std::string resolve_root(const YAML::Node& top, const fs::path& folder) {
  const YAML::Node node = top["path"];
  if (!node || node.IsNull()) return folder.string();
  if (!node.IsScalar()) complain(node, "path is not text");
  const std::string wanted = node.Scalar();
  if (wanted.starts_with('/')) return absolute_path(wanted);
  std::error_code error;
  const fs::path beside = folder / wanted;
  if (fs::is_directory(beside, error)) return absolute_path(beside.string());
  const std::string elsewhere = find_data(wanted);
  return elsewhere.empty() ? absolute_path(beside.string()) : elsewhere;
}

std::string resolve_split(const YAML::Node& node, const std::string& split, const DataYaml& data,
                          const fs::path& folder) {
  if (!node.IsScalar() || node.Scalar().empty()) complain(node, split + " is not a path");
  const std::string wanted = node.Scalar();
  if (wanted.starts_with('/')) return absolute_path(wanted);
  const fs::path path = fs::path(data.root) / wanted;
  std::error_code error;
  if (!fs::exists(path, error) && wanted.starts_with("../")) {
    const fs::path beside = folder / wanted.substr(3);
    if (fs::exists(beside, error)) return absolute_path(beside.string());
  }
  return absolute_path(path.string());
}

void read_splits(const YAML::Node& top, DataYaml& data, const fs::path& folder) {
  for (const char* split : {"train", "val", "test", "minival"}) {
    const YAML::Node node = top[split];
    if (!node || node.IsNull()) continue;
    std::vector<std::string>& paths = data.splits[split];
    if (node.IsSequence()) {
      for (const YAML::Node& part : node) {
        paths.push_back(resolve_split(part, split, data, folder));
      }
      if (paths.empty()) complain(node, std::string(split) + " is an empty list");
    } else {
      paths.push_back(resolve_split(node, split, data, folder));
    }
  }
  if (const YAML::Node node = top["validation"]; node && !data.splits.contains("val")) {
    complain(node, "the key is 'val', not 'validation'");
  }
  if (!data.splits.contains("train")) throw Complaint{"there is no 'train' key"};
}

/// YAML forbids tabs as indentation; the parser takes some of them for part of the text.
void refuse_tab_indentation(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#' || line[0] != '\t') continue;
    throw Complaint{"a tab is used as indentation; YAML wants blanks", number};
  }
}

DataYaml parse(const std::string& text, const std::string& path) {
  refuse_tab_indentation(text);
  const YAML::Node top = YAML::Load(text);
  if (!top.IsMap()) throw Complaint{"not a map of keys and values"};
  DataYaml data;
  data.path = path;
  const fs::path folder = fs::path(path).parent_path();
  read_classes(top, data);
  read_pose(top, data);
  if (const YAML::Node channels = top["channels"]; channels && !channels.IsNull()) {
    data.channels = read_int(channels, "channels", 1, 64);
  }
  data.has_download = static_cast<bool>(top["download"]);
  data.root = resolve_root(top, folder);
  read_splits(top, data, folder);
  return data;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code error;
  std::string text = fs::absolute(path, error).lexically_normal().string();
  if (error) return path;
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string find_data(const std::string& path) {
  std::error_code error;
  if (path.empty()) return {};
  if (fs::exists(path, error)) return absolute_path(path);
  if (path.starts_with('/')) return {};
  std::vector<fs::path> folders;
  if (const char* folder = std::getenv("YOLOAD_DATASETS_DIR")) folders.emplace_back(folder);
  folders.emplace_back("datasets");
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / path, error)) return absolute_path((folder / path).string());
  }
  return {};
}

Result<DataYaml> load_data_yaml(const std::string& path) {
  const std::string absolute = absolute_path(path);
  Result<std::string> text = read_text_file(absolute, kMaxYamlBytes);
  if (!text.ok()) return std::move(text).status();
  Complaint complaint;
  try {
    return parse(*text, absolute);
  } catch (const Complaint& caught) {
    complaint = caught;
  } catch (const YAML::Exception& caught) {
    complaint = {caught.msg, caught.mark.is_null() ? 0 : caught.mark.line + 1};
  } catch (const std::exception& caught) {
    complaint = {caught.what(), 0};
  }
  const std::string line =
      complaint.line > 0 ? "line " + std::to_string(complaint.line) + ": " : std::string();
  return Status(Code::invalid_argument, Stage::dataset, line + complaint.text, absolute);
}

}  // namespace yoload
