// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset.h"

#include <algorithm>
#include <iterator>

#include "core/machine.h"
#include "dataset/dataset_source.h"
#include "dataset/label_cache.h"
#include "dataset/scan.h"

namespace yoload {
namespace {

using Severity = Problem::Severity;

constexpr int kCacheVersion = 1;  // raise when a rule of reading changes

/// What tells one scan from another. Class names matter only where folders are the classes.
struct CacheKey {
  std::string file;      ///< names the cache file
  std::string identity;  ///< has to match what the file says about itself
};

CacheKey cache_key(const DatasetOptions& options, const DatasetSource& source) {
  CacheKey key;
  for (const std::string& part :
       {std::to_string(kCacheVersion), source.data, source.root, options.split,
        std::string(name(source.task)), std::to_string(options.single_cls ? 0 : source.yaml.nc),
        std::to_string(source.yaml.kpt_count), std::to_string(source.yaml.kpt_dims),
        std::to_string(options.fraction), std::string(options.strict_labels ? "strict" : "rows")}) {
    key.file += part + '\n';
  }
  key.identity = key.file;
  for (const std::string& name : source.pictures.names) key.identity += name + '\n';
  key.identity += source.labels->identity();
  return key;
}

ScanTables tables_of(const DatasetOptions& options, const DatasetSource& source,
                     const ImageProbe& probe, DatasetReport& report) {
  const int threads = options.threads > 0 ? options.threads : default_workers(read_machine());
  const std::vector<PictureFiles> files = stat_pictures(source, threads);
  const CacheKey key = cache_key(options, source);
  const std::string folder = label_cache_folder(options.cache_dir);
  const std::string path = folder + "/" + label_cache_name(key.file);
  Result<ScanTables> cached = Status(Code::not_found, Stage::dataset, "no folder for the cache");
  if (!folder.empty()) cached = load_label_cache(path, key.identity, source.yaml.kpt_count);
  // A picture that its labels cost is looked at again: they may have been mended.
  const bool settled = !source.strict_labels || (cached.ok() && cached->left_out.empty());
  if (cached.ok() && settled && describes(*cached, files)) {
    report.from_cache = true;
    return std::move(*cached);
  }
  if (!cached.ok() && cached.status().code() != Code::not_found) {
    report.cache_message = "label cache rebuilt: " + cached.status().to_string();
  }
  ScanTables tables =
      scan_pictures(source, files, cached.ok() ? &*cached : nullptr, probe, threads,
                    options.progress, &report.rescanned, [&](const ScanTables& partial) {
                      // A failure to save will be reported once, at the end.
                      if (!folder.empty()) (void)save_label_cache(path, key.identity, partial);
                    });
  const Status saved =
      folder.empty() ? cached.status() : save_label_cache(path, key.identity, tables);
  if (!saved.ok()) report.cache_message = "label cache not written: " + saved.to_string();
  return tables;
}

/// Two pictures a.jpg and a.png share a.txt. Sorted lists put them side by side.
void report_shared_labels(const DatasetSource& source, DatasetReport& report) {
  const std::vector<std::string>& paths = source.pictures.paths;
  std::string previous;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string label = source.labels->label_file_of(paths[i]);
    if (i > 0 && !label.empty() && label == previous && paths[i] != paths[i - 1]) {
      report.problems.push_back({Severity::warning, "shared_label", label, 0,
                                 "is the label of " + paths[i - 1] + " and of " + paths[i],
                                 "uses it for both"});
    }
    previous = std::move(label);
  }
}

void count(const DatasetSource& source, const ScanTables& tables, DatasetReport& report) {
  report.unreadable_images = tables.left_out.size();
  std::string first_unused;
  // A COCO file holds the labels of all pictures: none of them can be missing one by one.
  const bool one_file_each = !source.pictures.paths.empty() &&
                             !source.labels->label_file_of(source.pictures.paths.front()).empty();
  for (size_t i = 0; i < tables.images.size(); ++i) {
    const LabelState& state = tables.states[i];
    if (source.task != Task::classify) {
      if (one_file_each && !state.label.exists()) ++report.missing_labels;
      if (state.label.exists() && tables.images[i].rows == 0 && !state.has_problems) {
        ++report.empty_labels;
      }
    }
    if (state.unused_label && ++report.unused_labels == 1) {
      first_unused = text_beside(tables.path_of(tables.images[i]));
    }
  }
  if (report.unused_labels > 0) {
    report.problems.push_back(
        {Severity::warning, "unused_label", first_unused, 0,
         std::to_string(report.unused_labels) +
             " label files lie beside their pictures in a folder called images and are not used: "
             "the labels of such pictures are looked for in a folder called labels",
         "is silent: trains on backgrounds"});
  }
}

/// Without data.yaml the labels tell how many classes there are.
void name_classes(const ScanTables& tables, std::vector<std::string>& names) {
  if (!names.empty()) return;
  float highest = 0;
  for (const LabelRow& row : tables.rows) highest = std::max(highest, row.cls);
  for (int i = 0; i <= static_cast<int>(highest); ++i) {
    names.push_back("class_" + std::to_string(i));
  }
}

DatasetIndex make_index(const DatasetOptions& options, DatasetSource& source,
                        const ScanTables& tables) {
  DatasetIndex index;
  index.task = source.task;
  index.channels = source.yaml.channels;
  index.names = std::move(source.yaml.names);
  index.root = source.root;
  if (source.task == Task::pose) {
    index.kpt_count = source.yaml.kpt_count;
    index.kpt_dims = source.yaml.kpt_dims;
    index.flip_idx.assign(source.yaml.flip_idx.begin(), source.yaml.flip_idx.end());
  }
  if (options.single_cls && index.names.size() != 1) index.names = {"item"};
  index.nc = static_cast<int32_t>(index.names.size());
  tables.show_in(&index);
  return index;
}

}  // namespace

Result<DatasetIndex> open_dataset(const DatasetOptions& options, const ImageProbe& probe,
                                  DatasetReport* report) {
  DatasetReport own_report;
  DatasetReport& out = report != nullptr ? *report : own_report;
  out = {};
  Result<DatasetSource> source = resolve_source(options);
  if (!source.ok()) return std::move(source).status();
  for (const int cls : options.classes) {
    // One name for all of them says nothing about the numbers in the files.
    const bool any = source->yaml.nc == 0 || (options.single_cls && source->yaml.nc == 1);
    if (cls >= 0 && (any || cls < source->yaml.nc)) continue;
    return Status(Code::invalid_argument, Stage::dataset,
                  "classes holds " + std::to_string(cls) + ", but the data set has " +
                      std::to_string(source->yaml.nc) + " classes",
                  source->data);
  }
  out.problems = std::move(source->pictures.problems);
  report_shared_labels(*source, out);

  ScanTables tables = tables_of(options, *source, probe, out);
  std::move(tables.problems.begin(), tables.problems.end(), std::back_inserter(out.problems));
  count(*source, tables, out);
  name_classes(tables, source->yaml.names);
  if (!options.classes.empty() || options.single_cls) {
    tables = filter_rows(tables, options.classes, options.single_cls, source->task,
                         source->yaml.kpt_count);
  }
  out.images = tables.images.size();
  out.rows = tables.rows.size();
  for (const ImageRecord& image : tables.images) out.backgrounds += image.rows == 0;
  if (!options.keep_problems) out.problems.clear();
  return make_index(options, *source, tables);
}

}  // namespace yoload
