// SPDX-License-Identifier: Apache-2.0
#include "dataset/label_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "dataset/dataset.h"
#include "dataset/test_files.h"

namespace yoload {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

template <class T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

class LabelCache : public ::testing::Test {
 protected:
  LabelCache() {
    for (const char* name : {"1", "2", "3"}) {
      set_.write(std::string("images/") + name + ".jpg", "x");
      set_.write(std::string("labels/") + name + ".txt",
                 "0 .1 .1 .4 .1 .4 .4\n1 .2 .2 .4 .2 .4 .4 .3 .5\n");
    }
    options_.data = set_.write("data.yaml", "train: images\nnames: [a, b]\n");
    options_.task = "segment";
    options_.cache_dir = cache_.root() + "/sub/folder";
    options_.threads = 2;
  }

  DatasetIndex open() {
    auto index = open_dataset(options_, testing::fake_probe, &report_);
    EXPECT_TRUE(index.ok()) << index.status().to_string();
    return *index;
  }
  fs::path file() const {
    fs::path found;
    int files = 0;
    for (const auto& entry : fs::directory_iterator(options_.cache_dir)) {
      found = entry.path();
      ++files;
    }
    EXPECT_EQ(files, 1) << "temporary files have to go";
    return found;
  }
  static void expect_equal(const DatasetIndex& a, const DatasetIndex& b) {
    EXPECT_TRUE(same_bytes(a.images, b.images));
    EXPECT_TRUE(same_bytes(a.rows, b.rows));
    EXPECT_TRUE(same_bytes(a.polygon_offsets, b.polygon_offsets));
    EXPECT_TRUE(same_bytes(a.polygon_points, b.polygon_points));
    EXPECT_TRUE(same_bytes(a.strings, b.strings));
    EXPECT_EQ(a.names, b.names);
  }

  const testing::TempFolder set_, cache_;
  DatasetOptions options_;
  DatasetReport report_;
};

TEST_F(LabelCache, GivesTheSameIndexWithoutScanning) {
  const DatasetIndex first = open();
  EXPECT_FALSE(report_.from_cache);
  EXPECT_EQ(report_.rescanned, 3u);
  EXPECT_EQ(report_.cache_message, "");
  const DatasetIndex second = open();
  EXPECT_TRUE(report_.from_cache);
  EXPECT_EQ(report_.rescanned, 0u);
  expect_equal(first, second);
}

TEST_F(LabelCache, NoticesAnEditOfTheSameSize) {
  open();
  const fs::path label = set_.root() + "/labels/2.txt";
  const auto before = fs::last_write_time(label);
  set_.write("labels/2.txt", "1 .1 .1 .4 .1 .4 .4\n0 .2 .2 .4 .2 .4 .4 .3 .5\n");
  fs::last_write_time(label, before + std::chrono::nanoseconds(1000));
  const DatasetIndex index = open();
  EXPECT_EQ(report_.rescanned, 1u);
  EXPECT_EQ(index.rows_of(1)[0].cls, 1);
  EXPECT_EQ(index.rows_of(2)[0].cls, 0);
  EXPECT_FLOAT_EQ(index.polygon_of(5)[7], 0.5F);
}

TEST_F(LabelCache, ScansOnlyWhatCameOrWent) {
  open();
  set_.write("images/0.jpg", "x");
  fs::remove(set_.root() + "/images/1.jpg");
  fs::remove(set_.root() + "/labels/3.txt");
  const DatasetIndex index = open();
  EXPECT_EQ(report_.rescanned, 2u);
  EXPECT_EQ(index.images.size(), 3u);
  EXPECT_EQ(report_.missing_labels, 2u);
  EXPECT_EQ(report_.rows, 2u);
  open();
  EXPECT_TRUE(report_.from_cache);
}

TEST_F(LabelCache, RepeatsTheProblemsOnAWarmStart) {
  set_.write("labels/1.txt", "9 .1 .1 .4 .1 .4 .4\n");
  set_.write("images/0.jpg", "bad");
  open();
  const std::vector<Problem> cold = report_.problems;
  open();
  EXPECT_TRUE(report_.from_cache);
  ASSERT_EQ(report_.problems.size(), cold.size());
  EXPECT_EQ(cold.size(), 2u);
  for (size_t i = 0; i < cold.size(); ++i) {
    EXPECT_EQ(report_.problems[i].cause, cold[i].cause);
    EXPECT_EQ(report_.problems[i].path, cold[i].path);
  }
}

TEST_F(LabelCache, RebuildsADamagedFileAndSaysSo) {
  const DatasetIndex first = open();
  const fs::path path = file();
  std::string whole;
  {
    std::ifstream stream(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(stream), {});
  }
  std::vector<std::string> damaged = {"", whole.substr(0, 1), whole.substr(0, whole.size() / 2),
                                      whole.substr(0, whole.size() * 99 / 100), whole + "x"};
  for (size_t at = 0; at < whole.size(); at += 7) {
    damaged.push_back(whole);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x20);
  }
  for (const std::string& bytes : damaged) {
    std::ofstream(path, std::ios::binary) << bytes;
    const DatasetIndex index = open();
    EXPECT_FALSE(report_.from_cache);
    EXPECT_THAT(report_.cache_message, HasSubstr("rebuilt"));
    expect_equal(first, index);
  }
  open();
  EXPECT_TRUE(report_.from_cache);
}

TEST_F(LabelCache, RefusesTheFileOfAnotherScan) {
  open();
  const fs::path mine = file();
  const testing::TempFolder other_set;
  other_set.write("images/1.jpg", "x");
  DatasetOptions other = options_;
  other.data = other_set.write("data.yaml", "train: images\nnames: [a, b]\n");
  other.cache_dir = cache_.root() + "/other";
  ASSERT_TRUE(open_dataset(other, testing::fake_probe, nullptr).ok());
  for (const auto& entry : fs::directory_iterator(other.cache_dir)) {
    fs::copy_file(entry.path(), mine, fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(open().images.size(), 3u);
  EXPECT_THAT(report_.cache_message, HasSubstr("another scan"));
}

TEST_F(LabelCache, GoesOnWithoutAFolderItCanWrite) {
  options_.cache_dir = set_.write("file", "") + "/below";
  EXPECT_EQ(open().images.size(), 3u);
  EXPECT_THAT(report_.cache_message, HasSubstr("not written"));
}

TEST_F(LabelCache, RemovesWhatDeadWritersLeft) {
  const fs::path folder = options_.cache_dir;
  fs::create_directories(folder);
  // Process numbers end at 2^22 on Linux.
  std::ofstream(folder / "labels-0.cache.tmp.99999999.1") << "half";
  open();
  EXPECT_THAT(file().string(), ::testing::EndsWith(".cache"));
}

TEST_F(LabelCache, WritesNothingIntoTheDataSet) {
  const auto list = [&] {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(set_.root())) {
      names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto before = list();
  open();
  EXPECT_EQ(list(), before);
}

TEST(LabelCacheFolder, FollowsTheXdgRule) {
  EXPECT_EQ(label_cache_folder("/x"), "/x");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(label_cache_folder(""), "/cache/yoload");
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace yoload
