// A fuzzer's bytes as a file in a folder of its own, for readers that take a path.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace yoload::fuzzing {

/// One folder a process, on a RAM disk where there is one.
inline const std::string& folder() {
  static const std::string path = [] {
    const char* base = std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp";
    std::string made = std::string(base) + "/yoload_fuzz_" + std::to_string(getpid());
    std::filesystem::create_directories(made + "/images");
    std::ofstream(made + "/images/a.jpg") << "x";
    return made;
  }();
  return path;
}

inline std::string write(const std::string& name, const uint8_t* data, size_t bytes) {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return path;
}

}  // namespace yoload::fuzzing
