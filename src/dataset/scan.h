// Reads headers and labels of the pictures in parallel, or takes them from the last scan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "core/image_info.h"
#include "dataset/dataset_source.h"
#include "dataset/scan_tables.h"

namespace yoload {

/// The files of one picture as they are on disk now.
struct PictureFiles {
  std::string stored_path;  ///< relative to the root, or absolute
  FileKey image, label;
};

using ScanProgress = std::function<void(size_t done, size_t total)>;

/// Calls work(i) for 0..count-1 on `threads` threads, the caller being one of them; `progress` is
/// called on the caller's thread only.
void parallel_for(size_t count, int threads, const std::function<void(size_t)>& work,
                  const ScanProgress& progress);

std::vector<PictureFiles> stat_pictures(const DatasetSource& source, int threads);

/// Do the tables describe exactly these files?
bool describes(const ScanTables& tables, const std::vector<PictureFiles>& files);

/// Scans what `previous` (may be null) does not know in its present state; `*scanned` counts those.
/// Pictures with problems are always scanned again, so that the problems are those of today. Now
/// and then `checkpoint` gets what is known so far: saved, it makes an interrupted scan resumable.
ScanTables scan_pictures(const DatasetSource& source, const std::vector<PictureFiles>& files,
                         const ScanTables* previous, const ImageProbe& probe, int threads,
                         const ScanProgress& progress, uint64_t* scanned,
                         const std::function<void(const ScanTables&)>& checkpoint);

}  // namespace yoload
