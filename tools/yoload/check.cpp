// `yoload check`: every problem of a data set, with file, line and cause.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/json.h"
#include "core/machine.h"
#include "dataset/check.h"
#include "dataset/dataset.h"
#include "decode/decoder.h"
#include "storage/file_reader.h"
#include "yoload/commands.h"
#include "yoload/progress.h"

namespace yoload::cli {
namespace {

// Of each kind this many are printed; the fix list and the JSON have them all.
constexpr size_t kShownPerKind = 5;

struct Split {
  std::string name;
  DatasetIndex index;
  DatasetReport report;
  std::vector<PictureFact> facts;  // in step with the index's pictures
};

std::vector<Split> open_splits(const CheckCommand& command) {
  std::vector<Split> splits;
  Status last;
  for (const char* name : {"train", "val", "test"}) {
    DatasetOptions options;
    options.data = command.data;
    options.split = name;
    options.task = command.task;
    options.cache_dir = command.cache_dir;
    options.threads = command.threads;
    Split split;
    split.name = name;
    auto index = open_dataset(
        options, [](const std::string& path) { return probe_file(path, DecodeLimits{}); },
        &split.report);
    if (!index.ok()) {
      // A data set without a test or val split is complete; one that cannot be opened at all is
      // not.
      if (last.ok()) last = index.status();
      continue;
    }
    split.index = std::move(*index);
    // A plain folder is the same whatever the split is called; many people also validate on what
    // they train.
    const bool same =
        !splits.empty() && splits.front().index.images.size() == split.index.images.size() &&
        !split.index.images.empty() && splits.front().index.path(0) == split.index.path(0);
    if (same) {
      splits.front().report.problems.push_back(
          {Problem::Severity::note, "same_split", command.data, 0,
           std::string("'") + name + "' has the same pictures as 'train'", ""});
      continue;
    }
    splits.push_back(std::move(split));
  }
  if (splits.empty()) throw std::runtime_error(last.to_string());
  return splits;
}

/// Decodes every picture once and adds what is wrong with it.
void verify_pictures(const CheckCommand& command, Split* split) {
  const size_t count = split->index.images.size();
  Progress progress("decode " + split->name, count, "images");
  split->facts.resize(count);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t done = 0;
  const auto work = [&] {
    DecodeOptions options;
    options.channels = split->index.channels;
    Decoder decoder(options);
    for (size_t i = next++; i < count; i = next++) {
      const std::string path = split->index.path(i);
      Problem problem;
      problem.path = path;
      auto bytes = read_file(path, nullptr);
      if (!bytes.ok()) {
        problem.kind = "unreadable_image";
        problem.cause = bytes.status().message();
      } else {
        split->facts[i].content_hash = XXH3_64bits(bytes->data(), bytes->size());
        const auto decoded = decoder.decode({bytes->data(), bytes->size()}, nullptr);
        if (!decoded.ok()) {
          problem.kind = "undecodable_image";
          problem.cause =
              std::string(name(decoded.status().code())) + ": " + decoded.status().message();
        } else if (!decoded->warning.empty()) {
          problem.severity = Problem::Severity::warning;
          problem.kind = "odd_image";
          problem.cause = decoded->warning;
        }
        if (decoded.ok()) split->facts[i].orientation = decoded->info.orientation;
      }
      std::lock_guard lock(mutex);
      if (!problem.kind.empty()) split->report.problems.push_back(std::move(problem));
      if (!command.quiet) progress.update(++done);
    }
  };
  std::vector<std::thread> threads;
  const int wanted = command.threads > 0 ? command.threads : default_workers(read_machine());
  for (int i = 0; i < wanted; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

const char* name_of(Problem::Severity severity) {
  switch (severity) {
    case Problem::Severity::note:
      return "note";
    case Problem::Severity::warning:
      return "warning";
    case Problem::Severity::error:
      return "error";
  }
  return "?";
}

std::map<int, uint64_t> class_histogram(const DatasetIndex& index) {
  std::map<int, uint64_t> histogram;
  for (const LabelRow& row : index.rows) ++histogram[static_cast<int>(row.cls)];
  return histogram;
}

uint64_t turned_pictures(const Split& split) {
  return static_cast<uint64_t>(
      std::count_if(split.facts.begin(), split.facts.end(),
                    [](const PictureFact& fact) { return fact.orientation > 1; }));
}

/// What only shows when all files of a split, or of two, lie side by side.
void compare_files(std::vector<Split>* splits) {
  const auto checked = [](const Split& split) {
    return CheckedSplit{split.name, &split.index, split.facts};
  };
  const CheckedSplit train = checked(splits->front());
  for (Split& split : *splits) {
    std::vector<Problem>& problems = split.report.problems;
    find_orphan_labels(split.index, &problems);
    find_duplicates(checked(split), &problems);
    find_thin_split(checked(split), &problems);
    if (&split != &splits->front()) find_leaks(train, checked(split), &problems);
  }
}

std::string class_name(const DatasetIndex& index, int cls) {
  return cls >= 0 && static_cast<size_t>(cls) < index.names.size()
             ? index.names[static_cast<size_t>(cls)]
             : std::to_string(cls);
}

void print_split(const CheckCommand& command, const Split& split) {
  const DatasetReport& report = split.report;
  fmt::print(
      "{}: {} images, {} objects, {} backgrounds ({} without a label file, {} with an empty one)\n",
      split.name, report.images, report.rows, report.backgrounds, report.missing_labels,
      report.empty_labels);
  for (const auto& [cls, rows] : class_histogram(split.index)) {
    fmt::print("  {:>8}  {}\n", rows, class_name(split.index, cls));
  }
  const BoxSizes sizes = box_sizes(split.index, command.imgsz);
  fmt::print(
      "  sizes at imgsz {}: {} tiny (under 8 px squared), {} small (32), {} medium (96), {} "
      "large\n",
      command.imgsz, sizes.tiny, sizes.small, sizes.medium, sizes.large);
  if (sizes.under_filter > 0) {
    fmt::print(
        "  {} objects fall under the reference's size filter at imgsz {} (box_filter=keep keeps "
        "them)\n",
        sizes.under_filter, command.imgsz);
  }
  if (const uint64_t turned = turned_pictures(split); turned > 0) {
    fmt::print("  {} pictures are turned by their EXIF orientation\n", turned);
  }
  std::map<std::string, std::vector<const Problem*>> kinds;
  for (const Problem& problem : report.problems) kinds[problem.kind].push_back(&problem);
  for (const auto& [kind, problems] : kinds) {
    fmt::print("  {} {}: {}\n", name_of(problems.front()->severity), kind, problems.size());
    for (size_t i = 0; i < std::min(kShownPerKind, problems.size()); ++i) {
      const Problem& problem = *problems[i];
      fmt::print("    {}{}: {}{}\n", problem.path,
                 problem.line > 0 ? ":" + std::to_string(problem.line) : "", problem.cause,
                 problem.reference.empty() ? "" : " (reference: " + problem.reference + ")");
    }
    if (problems.size() > kShownPerKind)
      fmt::print("    ... and {} more\n", problems.size() - kShownPerKind);
  }
}

std::string to_json(const CheckCommand& command, const std::vector<Split>& splits) {
  JsonWriter json;
  json.begin_object().field("data", command.data).field("imgsz", command.imgsz);
  json.key("splits").begin_array();
  for (const Split& split : splits) {
    const DatasetReport& report = split.report;
    json.begin_object()
        .field("split", split.name)
        .field("images", report.images)
        .field("objects", report.rows);
    json.field("backgrounds", report.backgrounds).field("missing_labels", report.missing_labels);
    json.field("empty_labels", report.empty_labels).field("unused_labels", report.unused_labels);
    json.field("unreadable_images", report.unreadable_images);
    const BoxSizes sizes = box_sizes(split.index, command.imgsz);
    json.field("under_size_filter", sizes.under_filter)
        .field("exif_turned", turned_pictures(split));
    json.key("sizes").begin_object().field("tiny", sizes.tiny).field("small", sizes.small);
    json.field("medium", sizes.medium).field("large", sizes.large).end_object();
    json.key("classes").begin_object();
    for (const auto& [cls, rows] : class_histogram(split.index))
      json.field(class_name(split.index, cls), rows);
    json.end_object();
    json.key("problems").begin_array();
    for (const Problem& problem : report.problems) {
      json.begin_object().field("severity", name_of(problem.severity)).field("kind", problem.kind);
      json.field("path", problem.path).field("line", problem.line).field("cause", problem.cause);
      json.field("reference", problem.reference).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace

int run_check(const CheckCommand& command) {
  std::vector<Split> splits = open_splits(command);
  size_t serious = 0;
  for (Split& split : splits) verify_pictures(command, &split);
  compare_files(&splits);
  for (Split& split : splits) {
    std::sort(split.report.problems.begin(), split.report.problems.end(),
              [](const Problem& a, const Problem& b) {
                return std::tie(a.kind, a.path, a.line) < std::tie(b.kind, b.path, b.line);
              });
    serious += static_cast<size_t>(std::count_if(
        split.report.problems.begin(), split.report.problems.end(),
        [](const Problem& problem) { return problem.severity != Problem::Severity::note; }));
  }
  if (!command.fix_list_path.empty()) {
    std::ofstream file(command.fix_list_path);
    for (const Split& split : splits) {
      for (const Problem& problem : split.report.problems) {
        file << problem.path << '\t' << problem.line << '\t' << problem.kind << '\t'
             << problem.cause << '\n';
      }
    }
    if (!file.flush())
      throw std::runtime_error(command.fix_list_path + ": cannot write the fix list");
  }
  if (command.json) {
    fmt::print("{}\n", to_json(command, splits));
  } else if (!command.quiet) {
    for (const Split& split : splits) print_split(command, split);
    fmt::print("{}\n", serious == 0 ? "clean" : std::to_string(serious) + " problems");
  }
  return serious == 0 ? 0 : 1;
}

}  // namespace yoload::cli
