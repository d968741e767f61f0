// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset_source.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "dataset/coco_json.h"
#include "dataset/dota_txt.h"
#include "dataset/label_sources.h"
#include "dataset/stem_labels.h"
#include "dataset/voc_xml.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;

Status invalid(const std::string& message, const std::string& path) {
  return Status(Code::invalid_argument, Stage::dataset, message, path);
}

bool is_yaml(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".yml");
}

/// Does a split of this data.yaml name a COCO file? Its categories may bring the keypoints.
bool names_json(const DataYaml& yaml) {
  for (const auto& [split, paths] : yaml.splits) {
    if (paths.size() == 1 && paths.front().ends_with(".json")) return true;
  }
  return false;
}

Status no_split(const std::string& split, const std::vector<std::string>& there,
                const std::string& path) {
  std::string list;
  for (const std::string& name : there) list += (list.empty() ? "" : ", ") + name;
  return Status(Code::not_found, Stage::dataset,
                "there is no split '" + split + "'; there are: " + list, path);
}

/// Folder of one split of a class tree; the tree itself where it is not divided into splits.
Result<std::string> class_tree(const std::string& folder, const std::string& split) {
  std::vector<std::string> there;
  for (const char* name : {"train", "val", "test"}) {
    if (is_folder(folder + "/" + name)) there.emplace_back(name);
  }
  if (there.empty() || is_folder(folder + "/" + split)) {
    return there.empty() ? folder : folder + "/" + split;
  }
  return no_split(split, there, folder);
}

Status add_class_folders(const std::string& folder, DatasetSource& source) {
  Result<PictureList> list = list_class_folders(folder);
  if (!list.ok()) return std::move(list).status();
  source.pictures = std::move(*list);
  source.yaml.names = source.pictures.names;
  source.yaml.nc = static_cast<int>(source.yaml.names.size());
  source.labels = class_folder_labels(folder, source.yaml.names);
  return {};
}

/// Moves what a format found (pictures, class names, labels) into the source.
template <class Dataset>
Status take(Result<Dataset> found, DatasetSource& source) {
  if (!found.ok()) return std::move(found).status();
  source.pictures = std::move(found->pictures);
  source.yaml.names = std::move(found->names);
  source.yaml.nc = static_cast<int>(source.yaml.names.size());
  source.labels = std::move(found->labels);
  return {};
}

/// Folders and lists of the wanted split.
Result<std::vector<std::string>> split_paths(const DatasetOptions& options,
                                             const DatasetSource& source) {
  if (source.yaml.path.empty()) return std::vector<std::string>{source.data};
  const auto found = source.yaml.splits.find(options.split);
  if (found != source.yaml.splits.end()) return found->second;
  std::vector<std::string> there;
  for (const auto& [split, paths] : source.yaml.splits) there.push_back(split);
  return no_split(options.split, there, source.data);
}

/// A COCO file, given itself or as a split of a data.yaml, whose names then have to fit the
/// categories.
Status take_coco(const std::string& path, const DatasetOptions& options, DatasetSource& source) {
  const std::vector<std::string> names = source.yaml.names;
  Result<CocoDataset> coco = open_coco(path, "", options.split, source.task);
  if (coco.ok() && source.yaml.kpt_count == 0 && coco->kpt_count > 0) {
    source.yaml.kpt_count = coco->kpt_count;
    source.yaml.kpt_dims = 3;
  }
  if (Status status = take(std::move(coco), source); !status.ok()) return status;
  if (!names.empty() && names.size() != source.yaml.names.size()) {
    return invalid("data.yaml has " + std::to_string(names.size()) + " names, the COCO file has " +
                       std::to_string(source.yaml.names.size()) + " categories",
                   path);
  }
  if (!names.empty()) source.yaml.names = names;
  return {};
}

Status find_pictures(const DatasetOptions& options, DatasetSource& source) {
  if (source.yaml.path.empty() && source.task != Task::classify) {
    if (is_voc_folder(source.data)) return take(open_voc(source.data, options.split), source);
    if (is_dota_folder(source.data)) return take(open_dota(source.data), source);
  }
  const Result<std::vector<std::string>> paths = split_paths(options, source);
  if (!paths.ok()) return paths.status();
  if (source.task == Task::classify) {
    const bool whole_tree = source.yaml.path.empty();
    const Result<std::string> folder =
        whole_tree ? class_tree(source.data, options.split) : paths->front();
    if (!folder.ok()) return folder.status();
    return add_class_folders(*folder, source);
  }
  if (paths->size() == 1 && paths->front().ends_with(".json")) {
    return take_coco(paths->front(), options, source);
  }
  source.pictures.with_arrays = source.yaml.channels != 1 && source.yaml.channels != 3;
  for (const std::string& path : *paths) {
    Status status = add_pictures(path, source.pictures);
    if (status.ok()) continue;
    const char* hint = source.yaml.has_download
                           ? "; the download key is never run: fetch the data set yourself"
                           : "";
    return Status(status.code(), status.stage(), status.message() + hint, status.path());
  }
  source.labels = yolo_txt_labels({source.task, options.single_cls ? 0 : source.yaml.nc,
                                   source.yaml.kpt_count, source.yaml.kpt_dims});
  return {};
}

Status read_description(const DatasetOptions& options, DatasetSource& source) {
  const std::optional<Task> task = task_named(options.task);
  if (!options.task.empty() && !task) {
    return invalid("task is '" + options.task + "', expected detect, segment, pose, obb, classify",
                   source.data);
  }
  const bool folder = is_folder(source.data);
  std::error_code error;
  if (folder && task != Task::classify && fs::exists(source.data + "/data.yaml", error)) {
    source.data += "/data.yaml";
  }
  if (is_yaml(source.data)) {
    Result<DataYaml> yaml = load_data_yaml(source.data);
    if (!yaml.ok()) return std::move(yaml).status();
    source.yaml = std::move(*yaml);
    source.root = source.yaml.root;
  } else {
    source.root = folder ? source.data : fs::path(source.data).parent_path().string();
  }
  const Task guessed = source.yaml.kpt_count > 0                                 ? Task::pose
                       : source.yaml.path.empty() && is_dota_folder(source.data) ? Task::obb
                                                                                 : Task::detect;
  source.task = task.value_or(guessed);
  if (source.task == Task::pose && source.yaml.kpt_count == 0 && !source.yaml.path.empty() &&
      !names_json(source.yaml)) {
    return invalid("the pose task needs kpt_shape in data.yaml", source.data);
  }
  if (source.task == Task::classify && !folder && !is_yaml(source.data)) {
    return invalid("the classify task needs a tree with one folder per class", source.data);
  }
  return {};
}

}  // namespace

Result<DatasetSource> resolve_source(const DatasetOptions& options) {
  DatasetSource source;
  source.strict_labels = options.strict_labels;
  source.data = find_data(options.data);
  if (source.data.empty()) {
    return Status(Code::not_found, Stage::dataset,
                  "neither here nor in $YOLOAD_DATASETS_DIR nor in ./datasets", options.data);
  }
  if (!(options.fraction > 0 && options.fraction <= 1)) {
    return invalid("fraction is " + std::to_string(options.fraction) + ", expected 0..1",
                   source.data);
  }
  if (Status status = read_description(options, source); !status.ok()) return status;
  if (Status status = find_pictures(options, source); !status.ok()) return status;
  if (source.pictures.paths.empty()) {
    return Status(Code::not_found, Stage::dataset, "no images in split '" + options.split + "'",
                  source.data);
  }
  const double wanted = static_cast<double>(source.pictures.paths.size()) * options.fraction;
  source.pictures.paths.resize(static_cast<size_t>(std::max(1.0, std::nearbyint(wanted))));
  return source;
}

}  // namespace yoload
