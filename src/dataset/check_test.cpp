// SPDX-License-Identifier: Apache-2.0
#include "dataset/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/test_files.h"

namespace yoload {
namespace {

using ::testing::HasSubstr;

/// An index over the given relative paths, one small box in each picture.
struct SmallIndex {
  SmallIndex(const std::string& root, const std::vector<std::string>& paths,
             LabelRow box = {0, .5f, .5f, .1f, .1f}) {
    index.root = root;
    for (const std::string& path : paths) {
      ImageRecord record;
      record.path_offset = strings.size(), record.path_bytes = static_cast<uint32_t>(path.size());
      record.first_row = rows.size(), record.rows = 1;
      record.width_px = 640, record.height_px = 320;
      strings.insert(strings.end(), path.begin(), path.end());
      images.push_back(record);
      rows.push_back(box);
    }
    index.images = images, index.rows = rows, index.strings = strings;
  }
  std::vector<char> strings;
  std::vector<ImageRecord> images;
  std::vector<LabelRow> rows;
  DatasetIndex index;
};

TEST(Check, FindsLabelsWithoutAPictureButNotThoseOfAnotherSplit) {
  const testing::TempFolder folder;
  folder.write("images/a.jpg", "x"), folder.write("images/other_split.jpg", "x");
  for (const char* name : {"a", "other_split", "orphan", "classes"}) {
    folder.write(std::string("labels/") + name + ".txt", "0 .5 .5 .1 .1\n");
  }
  const SmallIndex small(folder.root(), {"images/a.jpg"});
  std::vector<Problem> problems;
  find_orphan_labels(small.index, &problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].path, HasSubstr("orphan.txt"));
}

TEST(Check, FindsCopiesWithinAndAcrossSplitsButNotRepeatedLines) {
  const SmallIndex train("/d", {"a.jpg", "b.jpg", "b.jpg", "c.jpg"}), val("/d", {"v.jpg", "w.jpg"});
  const CheckedSplit train_split = {"train", &train.index, {{1}, {2}, {2}, {1}}};
  const CheckedSplit val_split = {"val", &val.index, {{2}, {0}}};
  std::vector<Problem> problems;
  find_duplicates(train_split, &problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].path, "/d/c.jpg");
  problems.clear();
  find_leaks(train_split, val_split, &problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].path, "/d/v.jpg");
  EXPECT_EQ(problems[0].kind, "leak");
}

TEST(Check, SortsBoxesBySizeAtTrainingScale) {
  const SmallIndex small("/d", {"a.jpg"}, {0, .5f, .5f, 0.25f, 0.001f});  // 160 x 0.32 px at 640
  const BoxSizes sizes = box_sizes(small.index, 640);
  EXPECT_EQ(sizes.tiny, 1u);
  EXPECT_EQ(sizes.under_filter, 1u);
  const SmallIndex large("/d", {"a.jpg"}, {0, .5f, .5f, 0.5f, 0.5f});
  EXPECT_EQ(box_sizes(large.index, 640).large, 1u);
  EXPECT_EQ(box_sizes(large.index, 64).small, 1u);
}

TEST(Check, NotesThinSplits) {
  const SmallIndex small("/d", {"a.jpg"});
  std::vector<Problem> problems;
  find_thin_split({"val", &small.index, {{1}}}, &problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].severity, Problem::Severity::note);
}

}  // namespace
}  // namespace yoload
