// SPDX-License-Identifier: Apache-2.0
#include "dataset/coco_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_map>

#include "dataset/pixel_box.h"
#include "dataset/text_file.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;
using simdjson::dom::element;

// A million pictures with polygons are some 20 GB; simdjson reads documents of up to 4 GB.
constexpr uint64_t kMaxCocoBytes = uint64_t{4} << 30;

Status refuse(const std::string& path, std::string message) {
  return Status(Code::corrupt, Stage::dataset, std::move(message), path);
}

/// The value of a key, the last one where it stands twice, as Python's reader has it.
std::optional<element> field(const element& object, std::string_view key) {
  std::optional<element> found;
  simdjson::dom::object fields;
  if (object.get(fields) != simdjson::SUCCESS) return found;
  for (const auto& [name, value] : fields) {
    if (name == key) found = value;
  }
  return found;
}

/// An id as text, so that integers beyond 2^53, whole floats and strings compare alike. Empty if it
/// is none.
std::string id_of(const element& object, const char* key) {
  const std::optional<element> found = field(object, key);
  if (!found) return {};
  const element value = *found;
  int64_t integer = 0;
  uint64_t large = 0;
  double real = 0;
  std::string_view text;
  if (value.is_int64() && value.get(integer) == simdjson::SUCCESS) return std::to_string(integer);
  if (value.get(large) == simdjson::SUCCESS) return std::to_string(large);
  if (value.get(real) == simdjson::SUCCESS && std::floor(real) == real &&
      std::fabs(real) < 0x1p53) {
    return std::to_string(static_cast<int64_t>(real));
  }
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  return {};
}

std::optional<std::vector<double>> numbers_of(const element& value) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return std::nullopt;
  std::vector<double> numbers;
  for (const element item : array) {
    double number = 0;
    if (item.get(number) != simdjson::SUCCESS) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

/// One annotation, still in pixels.
struct Annotation {
  int cls = 0;
  std::vector<double> box;                    // x, y, w, h
  std::vector<std::vector<double>> polygons;  // parts, x and y alternating
  std::vector<double> keypoints;              // K,3
  std::string label;                          // "annotation 17", for messages
};

double distance2(double x0, double y0, double x1, double y1) {
  return (x0 - x1) * (x0 - x1) + (y0 - y1) * (y0 - y1);
}

/// Goes to the nearest point of the next part, around it, and back: one outline with zero-width
/// bridges.
std::vector<double> joined(const std::vector<std::vector<double>>& parts) {
  std::vector<double> outline = parts.front();
  for (size_t part = 1; part < parts.size(); ++part) {
    const std::vector<double>& next = parts[part];
    size_t from = 0, to = 0;
    double best = 1e300;
    for (size_t i = 0; i + 1 < outline.size(); i += 2) {
      for (size_t k = 0; k + 1 < next.size(); k += 2) {
        const double d = distance2(outline[i], outline[i + 1], next[k], next[k + 1]);
        if (d < best) best = d, from = i, to = k;
      }
    }
    std::vector<double> bridge(next.begin() + static_cast<ptrdiff_t>(to), next.end());
    bridge.insert(bridge.end(), next.begin(), next.begin() + static_cast<ptrdiff_t>(to) + 2);
    bridge.insert(bridge.end(), {outline[from], outline[from + 1]});
    outline.insert(outline.begin() + static_cast<ptrdiff_t>(from) + 2, bridge.begin(),
                   bridge.end());
  }
  return outline;
}

class CocoLabels final : public LabelSource {
 public:
  CocoLabels(std::string path, Task task, int kpt_count)
      : path_(std::move(path)), task_(task), kpt_count_(kpt_count) {}

  void add(const std::string& image_path, Annotation annotation) {
    annotations_[image_path].push_back(std::move(annotation));
  }

  ParsedLabels labels_of(const std::string& image_path, const ImageInfo& info) override {
    ParsedLabels labels;
    const auto found = annotations_.find(image_path);
    if (found == annotations_.end()) return labels;
    for (const Annotation& annotation : found->second) append(annotation, info, &labels);
    return labels;
  }

  // The one file holds all labels: an edit makes those of every picture stale.
  std::string identity() const override {
    const FileKey key = file_key(path_);
    return fmt::format("COCO {} bytes, mtime {}\n", key.bytes, key.mtime_ns);
  }

 private:
  void append(const Annotation& annotation, const ImageInfo& info, ParsedLabels* labels) const {
    const std::string where = path_ + " (" + annotation.label + ")";
    const auto& b = annotation.box;
    if (!append_pixel_box(static_cast<float>(annotation.cls),
                          {b[0], b[1], b[0] + b[2], b[1] + b[3]}, info, where, 0, labels)) {
      return;
    }
    if (task_ == Task::segment || task_ == Task::obb) append_polygon(annotation, info, labels);
    if (task_ == Task::pose) append_keypoints(annotation, where, info, labels);
  }

  static void append_polygon(const Annotation& annotation, const ImageInfo& info,
                             ParsedLabels* labels) {
    const std::vector<double> outline =
        annotation.polygons.empty() ? std::vector<double>() : joined(annotation.polygons);
    labels->polygon_counts.push_back(static_cast<uint32_t>(outline.size() / 2));
    for (size_t i = 0; i < outline.size(); ++i) {
      const double side = i % 2 == 0 ? info.width_px : info.height_px;
      labels->polygon_points.push_back(static_cast<float>(std::clamp(outline[i] / side, 0.0, 1.0)));
    }
  }

  void append_keypoints(const Annotation& annotation, const std::string& where,
                        const ImageInfo& info, ParsedLabels* labels) const {
    const auto wanted = static_cast<size_t>(kpt_count_) * 3;
    const bool complete = annotation.keypoints.size() == wanted;
    if (!complete && !annotation.keypoints.empty()) {
      complain(
          "bad_keypoints", where, 0,
          fmt::format("{} values, expected {}: all invisible", annotation.keypoints.size(), wanted),
          labels);
    }
    for (size_t i = 0; i < wanted; i += 3) {
      const double v = complete ? annotation.keypoints[i + 2] : 0;
      labels->keypoints.push_back(
          complete ? static_cast<float>(annotation.keypoints[i] / info.width_px) : 0);
      labels->keypoints.push_back(
          complete ? static_cast<float>(annotation.keypoints[i + 1] / info.height_px) : 0);
      labels->keypoints.push_back(v == 1 || v == 2 ? static_cast<float>(v) : 0);
    }
  }

  const std::string path_;
  const Task task_;
  const int kpt_count_;
  std::unordered_map<std::string, std::vector<Annotation>> annotations_;
};

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// `name` below `root` without leaving it, or "".
std::string below(const std::string& root, std::string_view name) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return {};
  return root + "/" + relative.string();
}

/// Folders that may hold the pictures of an annotation file.
std::vector<std::string> candidate_roots(const std::string& path, const std::string& split) {
  const fs::path folder = fs::path(path).parent_path();
  std::string stem = fs::path(path).stem().string();
  stem = stem.substr(stem.rfind('_') + 1);  // npos + 1 is 0
  std::vector<std::string> roots;
  for (const fs::path& base : {folder, folder.parent_path()}) {
    for (const fs::path& images : {base / "images", base}) {
      for (const std::string& sub : {stem, split, std::string()}) {
        roots.push_back((sub.empty() ? images : images / sub).string());
      }
    }
  }
  return roots;
}

/// Reads one document; the members are what its parts share.
class CocoReader {
 public:
  CocoReader(const std::string& path, const std::string& image_root, const std::string& split,
             Task task)
      : path_(path), image_root_(image_root), split_(split), task_(task) {}

  Result<CocoDataset> read() {
    Result<std::string> text = read_text_file(path_, kMaxCocoBytes);
    if (!text.ok()) return std::move(text).status();
    std::string_view json = *text;
    if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);
    simdjson::dom::parser parser;
    element document;
    const simdjson::padded_string padded(json);
    if (const auto error = parser.parse(padded).get(document)) {
      return refuse(path_, std::string("no valid JSON: ") + simdjson::error_message(error));
    }
    if (!document.is_object())
      return refuse(path_, "the top level is no object: is it a results file?");
    if (Status status = read_categories(document); !status.ok()) return status;
    if (Status status = read_images(document); !status.ok()) return status;
    auto labels = std::make_unique<CocoLabels>(path_, task_, data_.kpt_count);
    if (Status status = read_annotations(document, labels.get()); !status.ok()) return status;
    data_.labels = std::move(labels);
    return std::move(data_);
  }

 private:
  void note(Problem::Severity severity, const char* kind, std::string cause) {
    data_.pictures.problems.push_back({severity, kind, path_, 0, std::move(cause), ""});
  }

  Status read_categories(const element& document) {
    simdjson::dom::array categories;
    if (document["categories"].get(categories) != simdjson::SUCCESS) {
      return refuse(path_, "there is no list 'categories'");
    }
    // Ascending by number; ids that are no numbers come last, by text.
    std::map<std::pair<int64_t, std::string>, std::string> sorted;
    for (const element category : categories) {
      const std::string id = id_of(category, "id");
      std::string_view category_name;
      if (id.empty() || category["name"].get(category_name) != simdjson::SUCCESS) {
        return refuse(path_, "a category has no id or no name");
      }
      int64_t number = INT64_MAX;
      std::from_chars(id.data(), id.data() + id.size(), number);
      sorted[{number, id}] = category_name;
      simdjson::dom::array keypoints;
      if (category["keypoints"].get(keypoints) == simdjson::SUCCESS) {
        data_.kpt_count = std::max(data_.kpt_count, static_cast<int>(keypoints.size()));
      }
    }
    for (const auto& [key, category_name] : sorted) {
      classes_[key.second] = static_cast<int>(data_.names.size());
      if (std::find(data_.names.begin(), data_.names.end(), category_name) != data_.names.end()) {
        note(Problem::Severity::warning, "duplicate_category",
             "two categories are called '" + category_name + "'");
      }
      data_.names.push_back(category_name);
    }
    return {};
  }

  Status read_images(const element& document) {
    simdjson::dom::array images;
    if (document["images"].get(images) != simdjson::SUCCESS)
      return refuse(path_, "there is no list 'images'");
    for (const element image : images) {
      const std::string id = id_of(image, "id");
      std::string_view file_name;
      if (id.empty() || image["file_name"].get(file_name) != simdjson::SUCCESS) {
        note(Problem::Severity::error, "bad_image", "an image has no id or no file_name");
        continue;
      }
      if (images_.contains(id)) {
        note(
            Problem::Severity::error, "duplicate_image_id",
            fmt::format("image id {} stands twice: the first keeps its annotations, {} is left out",
                        id, file_name));
        continue;
      }
      const std::string path = find_picture(file_name);
      images_[id] = path;
      if (!path.empty()) data_.pictures.paths.push_back(path);
    }
    if (data_.pictures.paths.empty() && !images_.empty()) {
      return Status(Code::not_found, Stage::dataset, "none of its pictures is there", path_);
    }
    return {};
  }

  /// The picture on disk, or "" with a problem. The first one found settles the folder.
  std::string find_picture(std::string_view file_name) {
    const auto roots = image_root_.empty() ? candidate_roots(path_, split_)
                                           : std::vector<std::string>{image_root_};
    for (const std::string& root : roots) {
      const std::string path = below(root, file_name);
      if (path.empty()) {
        note(Problem::Severity::error, "path_escape",
             fmt::format("file_name '{}' leaves the image folder", file_name));
        return {};
      }
      if (is_file(path)) {
        image_root_ = root;
        return path;
      }
    }
    note(Problem::Severity::error, "missing_image", fmt::format("'{}' is not on disk", file_name));
    return {};
  }

  Status read_annotations(const element& document, CocoLabels* labels) {
    simdjson::dom::array annotations;
    if (document["annotations"].get(annotations) != simdjson::SUCCESS) {
      return refuse(path_, "there is no list 'annotations'");
    }
    size_t number = 0, crowds = 0;
    for (const element item : annotations) {
      ++number;
      const std::string id = id_of(item, "id");
      Annotation annotation;
      annotation.label = "annotation " + (id.empty() ? "number " + std::to_string(number) : id);
      const auto skip = [&](const char* kind, const std::string& cause) {
        note(Problem::Severity::error, kind, annotation.label + ": " + cause);
      };
      const auto image = images_.find(id_of(item, "image_id"));
      const auto category = classes_.find(id_of(item, "category_id"));
      element box;
      if (image == images_.end()) {
        skip("unknown_image", "its image is not in the file");
        continue;
      }
      if (image->second.empty()) continue;  // reported with the image
      if (category == classes_.end()) {
        skip("unknown_category", "its category is not in the file");
        continue;
      }
      int64_t crowd = 0;
      if (item["iscrowd"].get(crowd) == simdjson::SUCCESS && crowd != 0) {
        ++crowds;
        continue;
      }
      const auto numbers =
          item["bbox"].get(box) == simdjson::SUCCESS ? numbers_of(box) : std::nullopt;
      if (!numbers || numbers->size() != 4) {
        skip("bad_box", "bbox is not a list of four numbers");
        continue;
      }
      annotation.cls = category->second;
      annotation.box = *numbers;
      read_shapes(item, &annotation);
      if (annotation.keypoints.size() % 3 != 0) {
        skip("bad_keypoints", fmt::format("{} keypoint values are no x, y, visibility triples",
                                          annotation.keypoints.size()));
        continue;
      }
      labels->add(image->second, std::move(annotation));
    }
    if (crowds > 0)
      note(Problem::Severity::note, "crowd",
           fmt::format("{} crowd annotations are skipped", crowds));
    if (run_lengths_ > 0 && (task_ == Task::segment || task_ == Task::obb)) {
      note(Problem::Severity::warning, "run_length_mask",
           fmt::format(
               "{} objects have masks as run lengths: they keep their boxes, without outline",
               run_lengths_));
    }
    return {};
  }

  void read_shapes(const element& item, Annotation* annotation) {
    simdjson::dom::array parts;
    element segmentation;
    if (item["segmentation"].get(segmentation) == simdjson::SUCCESS && segmentation.is_object())
      ++run_lengths_;
    if (item["segmentation"].get(parts) == simdjson::SUCCESS) {
      for (const element part : parts) {
        auto points = numbers_of(part);
        if (points && points->size() >= 6 && points->size() % 2 == 0)
          annotation->polygons.push_back(std::move(*points));
      }
    }
    element keypoints;
    if (item["keypoints"].get(keypoints) == simdjson::SUCCESS) {
      annotation->keypoints = numbers_of(keypoints).value_or(std::vector<double>());
    }
  }

  const std::string path_;
  std::string image_root_;
  const std::string split_;
  const Task task_;
  CocoDataset data_;
  std::unordered_map<std::string, int> classes_;
  std::unordered_map<std::string, std::string> images_;  // id -> path, "" when unusable
  size_t run_lengths_ = 0;                               // objects whose mask is a run-length code
};

}  // namespace

Result<CocoDataset> open_coco(const std::string& path, const std::string& image_root,
                              const std::string& split, Task task) {
  return CocoReader(path, image_root, split, task).read();
}

}  // namespace yoload
