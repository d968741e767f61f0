// Reads data.yaml: classes, splits and pose keys, in the dialects that people write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/status.h"

namespace yoload {

struct DataYaml {
  std::string path;  ///< of the file itself, absolute
  std::string root;  ///< folder that the splits start from, absolute
  std::vector<std::string> names;
  int nc = 0;
  /// Split name -> absolute paths of folders and list files; they need not exist.
  std::map<std::string, std::vector<std::string>> splits;
  int kpt_count = 0, kpt_dims = 0;
  std::vector<int> flip_idx;
  int channels = 3;
  bool has_download = false;  ///< there is a `download` key; it is never run
};

/// Errors name the file and, where there is one, the line. Rules for paths:
/// - `path` is looked for beside the file, in the working folder, in $YOLOAD_DATASETS_DIR and in
///   ./datasets; without `path` the splits start beside the file.
/// - `../train/images` that does not exist falls back to `train/images` beside the file, because
///   one exporter writes its paths that way.
Result<DataYaml> load_data_yaml(const std::string& path);

/// `path` as it is if it exists, else the first hit of it in $YOLOAD_DATASETS_DIR and ./datasets,
/// else empty. Absolute and normalised.
std::string find_data(const std::string& path);

/// Absolute and without `.`, `..` and a final slash; links are left alone.
std::string absolute_path(const std::string& path);

}  // namespace yoload
