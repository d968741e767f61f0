// Runs a folder of hard label files, layouts and data.yaml variants against its MANIFEST.tsv,
// column `machine`: usable=N, boxes=N, images=N, nc=N, error, ignored, documented, and A|B for
// either.
//
//   torture_labels DIR     prints each difference and "N of N"; exit 0 if at most 5 differ, each
//   argued in
//                          tests/torture/EXCEPTIONS.md
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "dataset/data_yaml.h"
#include "dataset/dataset.h"
#include "decode/decoder.h"

namespace {

namespace fs = std::filesystem;
using namespace yoload;

constexpr int kAllowedDifferences = 5;

struct Row {
  std::string file, format, task, machine;
};

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::stringstream stream(line);
  for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
  return columns;
}

std::vector<Row> read_manifest(const std::string& path) {
  std::ifstream manifest(path);
  std::string line;
  std::getline(manifest, line);
  std::map<std::string, size_t> at;
  const auto header = columns_of(line);
  for (size_t i = 0; i < header.size(); ++i) at[header[i]] = i;
  std::vector<Row> rows;
  while (std::getline(manifest, line)) {
    const auto columns = columns_of(line);
    rows.push_back({columns.at(at.at("file")), columns.at(at.at("format")),
                    columns.at(at.at("task")), columns.at(at.at("machine"))});
  }
  return rows;
}

/// An opened data set with the rows of each picture by path, and the files it could not read at
/// all.
struct Opened {
  Status status;
  DatasetReport report;
  std::map<std::string, uint32_t> rows;
  int nc = 0;
};

Opened open(const std::string& data, const std::string& task, const std::string& cache_dir) {
  DatasetOptions options;
  options.data = data;
  options.task = task;
  options.cache_dir = cache_dir;
  Opened opened;
  const auto index = open_dataset(
      options, [](const std::string& path) { return probe_file(path, DecodeLimits{}); },
      &opened.report);
  if (!index.ok()) {
    opened.status = index.status();
    return opened;
  }
  opened.nc = index->nc;
  for (size_t i = 0; i < index->images.size(); ++i)
    opened.rows[index->path(i)] = index->images[i].rows;
  return opened;
}

class Judge {
 public:
  Judge(std::string root, std::string cache_dir)
      : root_(std::move(root)), cache_dir_(std::move(cache_dir)) {}

  /// What the library makes of a row, in the manifest's words.
  std::string outcome(const Row& row) {
    const std::string path = root_ + "/" + row.file;
    if (row.format == "data.yaml") {
      const auto yaml = load_data_yaml(path);
      return yaml.ok() ? "nc=" + std::to_string(yaml->nc) : "error";
    }
    if (row.format == "image list") {
      const Opened list = open(path, "detect", cache_dir_);
      return list.status.ok() ? "images=" + std::to_string(list.rows.size()) : "error";
    }
    if (row.format == "YOLO layout") return layout(row);
    if (row.format == "COCO json") {
      const Opened coco = open(path, row.task, cache_dir_);
      return coco.status.ok() ? "usable=" + std::to_string(coco.report.rows) : "error";
    }
    return labelled(row);
  }

 private:
  /// One data set for all files of a folder, opened once.
  const Opened& opened(const std::string& data, const std::string& task) {
    const auto [entry, made] = opened_.try_emplace(data + "\n" + task);
    if (made) entry->second = open(data, task, cache_dir_);
    return entry->second;
  }

  std::string layout(const Row& row) {
    const std::string part = row.file.substr(0, row.file.find('/', row.file.find('/') + 1));
    const std::string folder =
        fs::path(part).filename() == "labels" ? part.substr(0, part.rfind('/')) + "/images" : part;
    const Opened& data = opened(root_ + "/" + folder, "detect");
    const auto found = data.rows.find(root_ + "/" + row.file);
    return found == data.rows.end() ? "ignored" : "boxes=" + std::to_string(found->second);
  }

  /// A label file of a YOLO, VOC or DOTA set: the rows of the picture that it belongs to.
  std::string labelled(const Row& row) {
    const std::string file = row.file.substr(0, row.file.find(" ("));
    const std::string set = root_ + "/" + file.substr(0, file.find('/'));
    const bool yolo = row.format == "YOLO txt";
    const Opened& data = opened(yolo ? set + "/data.yaml" : set, row.task);
    if (!data.status.ok()) return "cannot open: " + data.status.to_string();
    const std::string stem = fs::path(file).stem().string();
    for (const auto& [picture, rows] : data.rows) {
      if (fs::path(picture).stem() != stem) continue;
      if (rows == 0 && whole_file_refused(data, stem)) return "error";
      return "usable=" + std::to_string(rows);
    }
    return "no picture";
  }

  static bool whole_file_refused(const Opened& data, const std::string& stem) {
    static const std::set<std::string> kWhole = {"not_well_formed", "not_voc", "unreadable_label"};
    for (const Problem& problem : data.report.problems) {
      if (kWhole.contains(problem.kind) && fs::path(problem.path).stem() == stem) return true;
    }
    return false;
  }

  const std::string root_, cache_dir_;
  std::map<std::string, Opened> opened_;
};

bool matches(const std::string& machine, const std::string& outcome) {
  if (machine == "documented") return true;
  std::stringstream stream(machine);
  for (std::string one; std::getline(stream, one, '|');) {
    if (one == outcome) return true;
    // Refusing a file and using nothing of it are the same for a file that holds nothing usable.
    if (one == "usable=0" && outcome == "error") return true;
  }
  return false;
}

std::string exceptions_text() {
  std::ifstream file(std::string(YOLOAD_SOURCE_DIR) + "/tests/torture/EXCEPTIONS.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIR\n", argv[0]);
    return 2;
  }
  const std::string root = fs::canonical(argv[1]).string();
  std::string cache = (fs::temp_directory_path() / "yoload_torture_XXXXXX").string();
  if (mkdtemp(cache.data()) == nullptr) return 2;
  Judge judge(root, cache);
  const std::string exceptions = exceptions_text();
  int right = 0, argued = 0, wrong = 0;
  const auto rows = read_manifest(root + "/MANIFEST.tsv");
  for (const Row& row : rows) {
    const std::string outcome = judge.outcome(row);
    if (matches(row.machine, outcome)) {
      ++right;
      continue;
    }
    const bool in_exceptions = exceptions.find(row.file) != std::string::npos;
    fmt::print("{} [{}]: {}{}\n", row.file, row.machine, outcome,
               in_exceptions ? " (argued in EXCEPTIONS.md)" : "");
    ++(in_exceptions ? argued : wrong);
  }
  fs::remove_all(cache);
  fmt::print("{} of {}\n", right, rows.size());
  return wrong == 0 && argued <= kAllowedDifferences ? 0 : 1;
}
