// Temporary folders and the optional shared test data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/image_info.h"

namespace yoload::testing {

/// Folder `name` of the shared test data, or empty where there is none.
inline std::string shared_data(const std::string& name) {
  const char* from_environment = std::getenv("YOLOAD_SHARED_DATA");
  const std::string root =
      from_environment != nullptr
          ? from_environment
          : std::filesystem::path(YOLOAD_SOURCE_DIR).parent_path().string() + "/shared/data";
  return std::filesystem::exists(root + "/" + name) ? root + "/" + name : std::string();
}

/// A folder that goes away with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "yoload_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(root_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& root() const { return root_; }
  /// Writes a file, with the folders that lead to it; returns its path.
  std::string write(const std::string& relative, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(root_) / relative;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

 private:
  std::string root_;
};

/// Takes every file for a 640x480 picture, apart from those that begin with "bad".
inline Result<ImageInfo> fake_probe(const std::string& path) {
  std::string start(3, '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), 3);
  if (start == "bad") return Status(Code::corrupt, Stage::decode, "not a picture", path);
  ImageInfo info;
  info.width_px = 640, info.height_px = 480, info.channels = 3;
  return info;
}

}  // namespace yoload::testing
