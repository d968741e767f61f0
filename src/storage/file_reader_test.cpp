// SPDX-License-Identifier: Apache-2.0
#include "storage/file_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace yoload {
namespace {

class ReadFile : public testing::Test {
 protected:
  ReadFile()
      : folder_(std::filesystem::temp_directory_path() /
                ("yoload_read_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ReadFile() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* file) const { return (folder_ / file).string(); }
  std::filesystem::path folder_;
};

TEST_F(ReadFile, ReturnsTheBytes) {
  std::ofstream(path("a")) << "hello";
  const auto buffer = read_file(path("a"), nullptr);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(std::string(reinterpret_cast<char*>(buffer->data()), buffer->size()), "hello");
}

TEST_F(ReadFile, NamesAMissingFile) {
  const auto buffer = read_file(path("none"), nullptr);
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.status().code(), Code::not_found);
  EXPECT_EQ(buffer.status().path(), path("none"));
}

TEST_F(ReadFile, RefusesFoldersPipesAndHugeSparseFilesAtOnce) {
  EXPECT_EQ(read_file(folder_.string(), nullptr).status().code(), Code::io);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(path("pipe"), nullptr).status().code(), Code::io);
  std::ofstream(path("sparse")) << "x";
  std::filesystem::resize_file(path("sparse"), kMaxFileBytes + 1);
  EXPECT_EQ(read_file(path("sparse"), nullptr).status().code(), Code::limit);
}

}  // namespace
}  // namespace yoload
