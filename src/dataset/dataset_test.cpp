// SPDX-License-Identifier: Apache-2.0
#include "dataset/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include "dataset/test_files.h"

namespace yoload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kBox = "0 .5 .5 .2 .2\n";

class Dataset : public ::testing::Test {
 protected:
  Result<DatasetIndex> open(const std::string& data, DatasetOptions options = {}) {
    options.data = data;
    if (options.cache_dir.empty()) options.cache_dir = cache_.root();
    options.threads = 2;
    return open_dataset(options, fake_probe_, &report_);
  }
  uint64_t count(const std::string& kind) const {
    return static_cast<uint64_t>(
        std::count_if(report_.problems.begin(), report_.problems.end(),
                      [&](const Problem& problem) { return problem.kind == kind; }));
  }

  const testing::TempFolder folder_, cache_;
  const ImageProbe fake_probe_ = testing::fake_probe;
  DatasetReport report_;
};

TEST_F(Dataset, IndexesPicturesLabelsBackgroundsAndUnreadableFiles) {
  const std::string yaml =
      folder_.write("data.yaml", "train: images\nval: images\nnames: [a, b]\nchannels: 1\n");
  folder_.write("images/1.jpg", "x");
  folder_.write("labels/1.txt", "1 .5 .5 .2 .2\n5 .5 .5 .2 .2\n0 .1 .1 .2 .2\n");
  folder_.write("images/2.jpg", "bad");
  folder_.write("images/3.jpg", "x");
  folder_.write("images/4.jpg", "x");
  folder_.write("labels/4.txt", "\n");
  const auto index = open(yaml);
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  ASSERT_EQ(index->images.size(), 3u);
  EXPECT_EQ(index->path(0), folder_.root() + "/images/1.jpg");
  EXPECT_EQ(index->relative_path(2), "images/4.jpg");
  EXPECT_EQ(index->rows_of(0).size(), 2u);
  EXPECT_EQ(index->images[0].width_px, 640);
  EXPECT_EQ(index->channels, 1);
  EXPECT_EQ(report_.backgrounds, 2u);
  EXPECT_EQ(report_.missing_labels, 1u);
  EXPECT_EQ(report_.empty_labels, 1u);
  EXPECT_EQ(report_.unreadable_images, 1u);
  EXPECT_EQ(count("class_out_of_range"), 1u);
  EXPECT_EQ(count("unreadable_image"), 1u);
}

TEST_F(Dataset, StrictLabelsLeaveOutThePictureUntilItsLabelIsMended) {
  const std::string yaml = folder_.write("data.yaml", "train: images\nnames: [a]\n");
  folder_.write("images/1.jpg", "x");
  folder_.write("labels/1.txt", std::string(kBox) + "7 .5 .5 .2 .2\n");
  folder_.write("images/2.jpg", "x");
  folder_.write("labels/2.txt", kBox);
  DatasetOptions options;
  EXPECT_EQ(open(yaml, options)->images.size(), 2u);
  options.strict_labels = true;
  for (int round = 0; round < 2; ++round) EXPECT_EQ(open(yaml, options)->images.size(), 1u);
  folder_.write("labels/1.txt", kBox);
  EXPECT_EQ(open(yaml, options)->images.size(), 2u);
}

TEST_F(Dataset, FiltersRowsByClassButKeepsThePictures) {
  const std::string yaml = folder_.write("data.yaml", "train: images\nnames: [a, b, c]\n");
  folder_.write("images/1.jpg", "x");
  folder_.write("labels/1.txt", "0 .1 .1 .4 .1 .4 .4\n2 .2 .2 .4 .2 .4 .4 .3 .5\n");
  folder_.write("images/2.jpg", "x");
  folder_.write("labels/2.txt", "1 .1 .1 .4 .1 .4 .4\n");
  DatasetOptions options;
  options.task = "segment";
  options.classes = {2};
  options.single_cls = true;
  const auto index = open(yaml, options);
  ASSERT_TRUE(index.ok());
  ASSERT_EQ(index->images.size(), 2u);
  ASSERT_EQ(index->rows.size(), 1u);
  EXPECT_EQ(index->rows[0].cls, 0);
  EXPECT_EQ(index->polygon_of(0).size(), 8u);
  EXPECT_FLOAT_EQ(index->polygon_of(0)[7], 0.5F);
  EXPECT_EQ(index->nc, 1);
  EXPECT_EQ(report_.backgrounds, 1u);
  options.classes = {3};
  EXPECT_EQ(open(yaml, options).status().code(), Code::invalid_argument);
}

TEST_F(Dataset, FractionKeepsTheFirstPictures) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    folder_.write(std::string("images/") + name + ".jpg", "x");
  }
  DatasetOptions options;
  options.fraction = 0.5F;
  const auto index = open(folder_.root() + "/images", options);
  ASSERT_TRUE(index.ok());
  ASSERT_EQ(index->images.size(), 2u);  // halves go to the even number, as the reference rounds
  EXPECT_EQ(index->relative_path(1), "b.jpg");
}

TEST_F(Dataset, NamesTheSplitsThereAre) {
  const std::string yaml = folder_.write("data.yaml", "train: a\nval: b\nnames: [x]\n");
  DatasetOptions options;
  options.split = "test";
  EXPECT_THAT(open(yaml, options).status().to_string(), HasSubstr("there are: train, val"));
  EXPECT_THAT(open(yaml).status().to_string(), HasSubstr("/a: "));
}

TEST_F(Dataset, ReadsClassTreesWithAndWithoutSplits) {
  folder_.write("train/dog/1.jpg", "x");
  folder_.write("train/cat/1.jpg", "x");
  folder_.write("val/cat/2.jpg", "x");
  DatasetOptions options;
  options.task = "classify";
  const auto index = open(folder_.root(), options);
  ASSERT_TRUE(index.ok());
  EXPECT_THAT(index->names, ElementsAre("cat", "dog"));
  ASSERT_EQ(index->rows.size(), 2u);
  EXPECT_EQ(index->rows[1].cls, 1);
  EXPECT_EQ(open(folder_.root() + "/train", options)->images.size(), 2u);
  options.split = "test";
  EXPECT_THAT(open(folder_.root(), options).status().to_string(), HasSubstr("train, val"));
}

TEST_F(Dataset, S07KeepsRepeatedLinesOfAList) {
  folder_.write("images/p1.jpg", "x");
  folder_.write("labels/p1.txt", kBox);
  folder_.write("images/p2.jpg", "x");
  const std::string p1 = "./images/p1.jpg\n";
  const std::string list = folder_.write("train.txt", p1 + p1 + p1 + "images/p2.jpg\n" + p1 + p1);
  for (int start = 0; start < 2; ++start) {
    const auto index = open(list);
    ASSERT_TRUE(index.ok());
    EXPECT_EQ(index->images.size(), 6u);
    EXPECT_EQ(report_.rows, 5u);
    EXPECT_EQ(report_.from_cache, start == 1);
    EXPECT_EQ(count("shared_label"), 0u);
  }
}

TEST_F(Dataset, R01TakesBracketsInPathsAsTheyAre) {
  const std::string root = testing::shared_data("reports/R01/lot[7]{rev B}");
  if (root.empty()) GTEST_SKIP() << "reports/R01 not found";
  std::string lines;
  for (const auto& file : std::filesystem::directory_iterator(root + "/images/train")) {
    lines += file.path().string() + "\n";
  }
  for (const std::string& data :
       {root + "/data.yaml", root + "/images/train", folder_.write("list.txt", lines)}) {
    ASSERT_TRUE(open(data).ok()) << data;
    EXPECT_EQ(report_.images, 4u);
    EXPECT_EQ(report_.rows, 4u);
    EXPECT_EQ(report_.backgrounds, 0u);
  }
}

TEST_F(Dataset, R02CountsLabelsThatLieWhereTheyAreNotUsed) {
  const std::string root = testing::shared_data("reports/R02");
  if (root.empty()) GTEST_SKIP() << "reports/R02 not found";
  for (int start = 0; start < 2; ++start) {
    ASSERT_TRUE(open(root + "/data.yaml").ok());
    EXPECT_EQ(report_.images, 6u);
    EXPECT_EQ(report_.backgrounds, 3u);
    EXPECT_EQ(report_.unused_labels, 3u);
    ASSERT_EQ(count("unused_label"), 1u);
    EXPECT_THAT(report_.problems.back().cause, HasSubstr("3 label files"));
  }
}

TEST_F(Dataset, FindsTheLabelsOfEveryTortureLayout) {
  const std::string root = testing::shared_data("torture-labels");
  if (root.empty()) GTEST_SKIP() << "torture-labels not found";
  std::map<std::string, uint32_t> boxes;
  for (const char* part : {"images", "flat"}) {
    const auto index = open(root + "/yolo-layout/" + part);
    ASSERT_TRUE(index.ok());
    for (size_t i = 0; i < index->images.size(); ++i) {
      boxes[index->path(i).substr(root.size() + 1)] = index->images[i].rows;
    }
    if (part == std::string("images")) {
      EXPECT_EQ(count("shared_label"), 1u);
    }
  }
  std::ifstream manifest(root + "/MANIFEST.tsv");
  int judged = 0;
  for (std::string line; std::getline(manifest, line);) {
    std::vector<std::string> columns;
    std::stringstream stream(line);
    for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
    if (columns.size() < 5 || !columns[0].starts_with("yolo-layout/")) continue;
    const std::string& wanted = columns[4];
    if (wanted.starts_with("boxes=")) {
      ASSERT_TRUE(boxes.contains(columns[0])) << columns[0];
      EXPECT_EQ("boxes=" + std::to_string(boxes[columns[0]]), wanted) << columns[0];
    } else if (wanted == "ignored") {
      EXPECT_FALSE(boxes.contains(columns[0])) << columns[0];
    } else if (columns[1] == "image list" && wanted != "documented") {
      const bool opened = open(root + "/" + columns[0]).ok();
      EXPECT_EQ(opened ? "images=" + std::to_string(report_.images) : "error", wanted)
          << columns[0];
    }
    ++judged;
  }
  EXPECT_GE(judged, 24);
}

TEST_F(Dataset, ReportsProgressAndCallsItOnTheCallingThread) {
  for (int i = 0; i < 100; ++i) folder_.write("images/" + std::to_string(i) + ".jpg", "x");
  DatasetOptions options;
  size_t last = 0;
  const auto caller = std::this_thread::get_id();
  options.progress = [&](size_t done, size_t total) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(total, 100u);
    last = done;
  };
  ASSERT_TRUE(open(folder_.root() + "/images", options).ok());
  EXPECT_EQ(last, 100u);
}

}  // namespace
}  // namespace yoload
