// SPDX-License-Identifier: Apache-2.0
#include "dataset/scan.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <unordered_map>

namespace yoload {
namespace {

/// Pictures after which an interrupted scan has something to go on from.
constexpr size_t kFirstCheckpoint = 20'000;

constexpr size_t kChunk = 32;  // pictures a thread takes at a time

std::string relative_to(const std::string& root, const std::string& path) {
  const bool below = path.size() > root.size() && path.starts_with(root) &&
                     path[root.size()] == '/' && !root.empty();
  return below ? path.substr(root.size() + 1) : path;
}

bool has_bad_row(const ParsedLabels& labels) {
  return std::any_of(labels.problems.begin(), labels.problems.end(), [](const Problem& problem) {
    return problem.severity == Problem::Severity::error;
  });
}

ScannedPicture scan_one(const std::string& path, const PictureFiles& files, const ImageProbe& probe,
                        const DatasetSource& dataset) {
  LabelSource& source = *dataset.labels;
  ScannedPicture picture;
  picture.path = files.stored_path;
  picture.image = files.image;
  picture.label = files.label;
  const Result<ImageInfo> info = probe(path);
  if (!info.ok()) {
    picture.readable = false;
    picture.labels.problems.push_back(
        {Problem::Severity::error, "unreadable_image", path, 0,
         std::string(name(info.status().code())) + ": " + info.status().message(),
         "drops the whole image"});
    return picture;
  }
  picture.width_px = info->width_px;
  picture.height_px = info->height_px;
  picture.labels = source.labels_of(path, *info);
  if (dataset.strict_labels && has_bad_row(picture.labels)) picture.readable = false;
  const std::string label_file = source.label_file_of(path);
  if (!files.label.exists() && !label_file.empty()) {
    const std::string beside = text_beside(path);
    picture.unused_label = beside != label_file && file_key(beside).exists();
  }
  return picture;
}

bool same_image(const ScanTables& tables, const ImageRecord& record, const PictureFiles& files) {
  return FileKey{record.file_bytes, record.mtime_ns} == files.image &&
         tables.path_of(record) == files.stored_path;
}

bool same(const ScanTables& tables, size_t image, const PictureFiles& files) {
  return same_image(tables, tables.images[image], files) &&
         tables.states[image].label == files.label;
}

}  // namespace

void parallel_for(size_t count, int threads, const std::function<void(size_t)>& work,
                  const ScanProgress& progress) {
  std::atomic<size_t> next = 0, done = 0;
  const auto run = [&](bool reports) {
    for (size_t first = next.fetch_add(kChunk); first < count; first = next.fetch_add(kChunk)) {
      const size_t last = std::min(first + kChunk, count);
      for (size_t i = first; i < last; ++i) work(i);
      done += last - first;
      if (reports && progress) progress(done, count);
    }
  };
  const size_t useful = (count + kChunk - 1) / kChunk;
  std::vector<std::jthread> others;
  for (size_t t = 1; t < std::min(static_cast<size_t>(std::max(1, threads)), useful); ++t) {
    others.emplace_back(run, false);
  }
  run(true);
  others.clear();  // joins
  if (progress) progress(count, count);
}

std::vector<PictureFiles> stat_pictures(const DatasetSource& source, int threads) {
  std::vector<PictureFiles> files(source.pictures.paths.size());
  const auto stat_one = [&](size_t i) {
    const std::string& path = source.pictures.paths[i];
    files[i].stored_path = relative_to(source.root, path);
    files[i].image = file_key(path);
    const std::string label = source.labels->label_file_of(path);
    if (!label.empty()) files[i].label = file_key(label);
  };
  parallel_for(files.size(), threads, stat_one, {});
  return files;
}

bool describes(const ScanTables& tables, const std::vector<PictureFiles>& files) {
  size_t image = 0, left_out = 0;
  for (const PictureFiles& picture : files) {
    if (image < tables.images.size() && same(tables, image, picture)) {
      ++image;
    } else if (left_out < tables.left_out.size() &&
               same_image(tables, tables.left_out[left_out], picture)) {
      ++left_out;
    } else {
      return false;
    }
  }
  return image == tables.images.size() && left_out == tables.left_out.size();
}

ScanTables scan_pictures(const DatasetSource& source, const std::vector<PictureFiles>& files,
                         const ScanTables* previous, const ImageProbe& probe, int threads,
                         const ScanProgress& progress, uint64_t* scanned,
                         const std::function<void(const ScanTables&)>& checkpoint) {
  std::unordered_map<std::string_view, size_t> known;
  if (previous != nullptr) {
    for (size_t i = 0; i < previous->images.size(); ++i) {
      const LabelState& state = previous->states[i];
      if (state.has_problems || state.unused_label) continue;
      known.emplace(previous->path_of(previous->images[i]), i);
    }
  }
  std::vector<ScannedPicture> pictures(files.size());
  std::vector<size_t> changed;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto found = known.find(files[i].stored_path);
    if (found != known.end() && same(*previous, found->second, files[i])) {
      pictures[i] = extract(*previous, found->second, source.yaml.kpt_count);
    } else {
      changed.push_back(i);
    }
  }
  // Each stretch is twice as long as the one before, so that all checkpoints together write about
  // twice what the last one does.
  size_t done = 0;
  for (size_t stretch = kFirstCheckpoint; done < changed.size(); stretch *= 2) {
    const size_t count = std::min(stretch, changed.size() - done);
    const auto work = [&](size_t i) {
      const size_t at = changed[done + i];
      pictures[at] = scan_one(source.pictures.paths[at], files[at], probe, source);
    };
    const auto report = [&](size_t now, size_t) { progress(done + now, changed.size()); };
    parallel_for(count, threads, work, progress ? ScanProgress(report) : ScanProgress());
    done += count;
    if (checkpoint && done < changed.size()) {
      const std::set<size_t> missing(changed.begin() + static_cast<ptrdiff_t>(done), changed.end());
      std::vector<ScannedPicture> known_now;
      for (size_t i = 0; i < pictures.size(); ++i) {
        if (!missing.contains(i)) known_now.push_back(pictures[i]);
      }
      checkpoint(build_tables(std::move(known_now), source.task));
    }
  }
  *scanned = changed.size();
  return build_tables(std::move(pictures), source.task);
}

}  // namespace yoload
