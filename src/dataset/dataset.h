// Opens a data set: finds pictures, reads labels and headers in parallel, keeps a label cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/dataset_index.h"
#include "core/image_info.h"
#include "core/status.h"
#include "dataset/parsed_labels.h"

namespace yoload {

struct DatasetOptions {
  /// data.yaml; a folder that holds one; a folder of pictures or a .txt list (classes 0..max of
  /// the labels); for classify a tree with one folder per class. `split` divides the first two and
  /// the class tree.
  std::string data;
  std::string split = "train";
  std::string task;          ///< "" is pose where data.yaml has kpt_shape, else detect
  std::string cache_dir;     ///< "" is $XDG_CACHE_HOME/yoload or ~/.cache/yoload
  std::vector<int> classes;  ///< keep rows of these classes only; empty keeps all
  bool single_cls = false;
  /// As the reference: a picture with a bad label row is left out. Otherwise the row alone is.
  bool strict_labels = false;
  float fraction = 1;  ///< the first round(n * fraction) pictures
  int threads = 0;     ///< 0 follows the machine
  /// Called on the calling thread while files are scanned.
  std::function<void(size_t done, size_t total)> progress;
  bool keep_problems = true;
};

struct DatasetReport {
  std::vector<Problem> problems;
  uint64_t images = 0;
  uint64_t backgrounds = 0;     ///< pictures without a row, for whatever reason
  uint64_t missing_labels = 0;  ///< no label file
  uint64_t empty_labels = 0;    ///< label file without a single row, good or bad
  uint64_t rows = 0;
  uint64_t unused_labels = 0;  ///< .txt beside pictures whose label is looked for elsewhere
  uint64_t unreadable_images = 0;
  bool from_cache = false;    ///< nothing had changed
  uint64_t rescanned = 0;     ///< pictures that had to be read
  std::string cache_message;  ///< what kept the cache from being used or written; else empty
};

/// `probe` is called from several threads. Nothing is ever written into the data set. `report` may
/// be null. Errors: not_found, invalid_argument, io.
Result<DatasetIndex> open_dataset(const DatasetOptions& options, const ImageProbe& probe,
                                  DatasetReport* report);

}  // namespace yoload
