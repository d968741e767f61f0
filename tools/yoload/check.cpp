// `yoload check`: every problem of a data set, with file, line and cause.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "core/json.h"
#include "dataset/data_yaml.h"
#include "dataset/dataset.h"
#include "decode/decoder.h"
#include "yoload/commands.h"
#include "yoload/progress.h"

namespace yoload::cli {
namespace {

struct Split {
  std::string name;
  DatasetIndex index;
  DatasetReport report;
};

std::string_view word(Problem::Severity severity) {
  return severity == Problem::Severity::error     ? "error"
         : severity == Problem::Severity::warning ? "warning"
                                                  : "note";
}

bool ends_with(const std::string& text, std::string_view tail) {
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

/// Splits that data.yaml names; anything else is one split.
std::vector<std::string> split_names(const std::string& data) {
  if (!ends_with(data, ".yaml") && !ends_with(data, ".yml")) return {"train"};
  const std::string found = find_data(data);
  const Result<DataYaml> yaml = load_data_yaml(found.empty() ? data : found);
  if (!yaml.ok()) throw std::runtime_error(yaml.status().to_string());
  std::vector<std::string> names;
  for (const char* name : {"train", "val", "test"}) {
    if (yaml->splits.count(name) != 0) names.push_back(name);
  }
  return names;
}

/// Rows whose longer or shorter side the reference's filter deletes at this size, even unaugmented.
uint64_t rows_under_filter(const DatasetIndex& index, int imgsz) {
  uint64_t count = 0;
  for (const ImageRecord& image : index.images) {
    const float ratio = static_cast<float>(imgsz) /
                        static_cast<float>(std::max({1, image.width_px, image.height_px}));
    for (uint64_t row = image.first_row; row < image.first_row + image.rows; ++row) {
      const float w = index.rows[row].w * static_cast<float>(image.width_px) * ratio;
      const float h = index.rows[row].h * static_cast<float>(image.height_px) * ratio;
      count += w <= 2 || h <= 2 || w >= 100 * h || h >= 100 * w;
    }
  }
  return count;
}

std::vector<uint64_t> class_histogram(const DatasetIndex& index) {
  std::vector<uint64_t> counts(static_cast<size_t>(std::max(0, index.nc)));
  for (const LabelRow& row : index.rows) {
    const auto cls = static_cast<size_t>(std::max(0.0f, row.cls));
    if (cls < counts.size()) ++counts[cls];
  }
  return counts;
}

Split open_split(const CheckCommand& command, const std::string& name) {
  Split split;
  split.name = name;
  DatasetOptions options;
  options.data = command.data;
  options.split = name;
  options.task = command.task;
  options.cache_dir = command.cache_dir;
  options.threads = command.threads;
  Progress progress("scan " + name, 0, "files");
  options.progress = [&](size_t done, size_t) { progress.update(done); };
  const DecodeLimits limits;
  auto index = open_dataset(
      options, [limits](const std::string& path) { return probe_file(path, limits); },
      &split.report);
  if (!index.ok()) throw std::runtime_error(index.status().to_string());
  split.index = std::move(*index);
  progress.update(split.index.images.size());
  progress.finish();
  if (!split.report.cache_message.empty()) {
    fmt::print(stderr, "warning: {}\n", split.report.cache_message);
  }
  return split;
}

void print_text(const std::vector<Split>& splits, int imgsz) {
  for (const Split& split : splits) {
    const DatasetReport& r = split.report;
    fmt::print("{}: {} pictures, {} objects, {} backgrounds\n", split.name, r.images, r.rows,
               r.backgrounds);
    const std::vector<uint64_t> counts = class_histogram(split.index);
    for (size_t cls = 0; cls < counts.size(); ++cls) {
      if (counts[cls] > 0) fmt::print("  {:<20} {:>8}\n", split.index.names[cls], counts[cls]);
    }
    const uint64_t small = rows_under_filter(split.index, imgsz);
    if (small > 0) {
      fmt::print(
          "  {} objects are too small or too thin for the reference's filter at {} px: see "
          "--box-filter keep\n",
          small, imgsz);
    }
    for (const Problem& p : r.problems) {
      fmt::print("  {}: {}{}: {}{}\n", word(p.severity), p.path,
                 p.line > 0 ? fmt::format(":{}", p.line) : "", p.cause,
                 p.reference.empty() ? "" : fmt::format(" (reference: {})", p.reference));
    }
  }
}

void print_json(const CheckCommand& command, const std::vector<Split>& splits, uint64_t problems) {
  JsonWriter json;
  json.begin_object()
      .field("command", "check")
      .field("data", command.data)
      .field("problems", problems);
  json.key("splits").begin_array();
  for (const Split& split : splits) {
    const DatasetReport& r = split.report;
    json.begin_object().field("split", split.name).field("images", r.images).field("rows", r.rows);
    json.field("backgrounds", r.backgrounds).field("missing_labels", r.missing_labels);
    json.field("empty_labels", r.empty_labels).field("unused_labels", r.unused_labels);
    json.field("unreadable_images", r.unreadable_images);
    json.field("rows_under_filter", rows_under_filter(split.index, command.imgsz))
        .field("imgsz", command.imgsz);
    json.key("classes").begin_object();
    const std::vector<uint64_t> counts = class_histogram(split.index);
    for (size_t cls = 0; cls < counts.size(); ++cls)
      json.field(split.index.names[cls], counts[cls]);
    json.end_object().key("problems").begin_array();
    for (const Problem& p : r.problems) {
      json.begin_object()
          .field("severity", word(p.severity))
          .field("kind", p.kind)
          .field("path", p.path);
      json.field("line", p.line)
          .field("cause", p.cause)
          .field("reference", p.reference)
          .end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  std::puts(json.take().c_str());
}

void write_fix_list(const std::string& path, const std::vector<Split>& splits) {
  std::ofstream stream(path, std::ios::binary);
  for (const Split& split : splits) {
    for (const Problem& p : split.report.problems) {
      stream << fmt::format("{}\t{}\t{}\t{}\n", p.path, p.line, p.kind, p.cause);
    }
  }
  stream.close();
  if (!stream) throw std::runtime_error(path + ": cannot write the fix list");
}

}  // namespace

int run_check(const CheckCommand& command) {
  std::vector<Split> splits;
  uint64_t problems = 0;
  for (const std::string& name : split_names(command.data)) {
    splits.push_back(open_split(command, name));
    for (const Problem& p : splits.back().report.problems)
      problems += p.severity != Problem::Severity::note;
  }
  if (!command.fix_list_path.empty()) write_fix_list(command.fix_list_path, splits);
  if (command.json) {
    print_json(command, splits, problems);
  } else if (!command.quiet) {
    print_text(splits, command.imgsz);
    if (problems == 0) {
      fmt::print("no problems\n");
    } else {
      fmt::print("{} problems\n", problems);
    }
  }
  return problems == 0 ? kExitOk : kExitProblems;
}

}  // namespace yoload::cli
