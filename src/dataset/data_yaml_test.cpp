// SPDX-License-Identifier: Apache-2.0
#include "dataset/data_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <sstream>

#include "dataset/test_files.h"

namespace yoload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint_of(const std::string& text) {
  const testing::TempFolder folder;
  const auto data = load_data_yaml(folder.write("data.yaml", text));
  return data.ok() ? "accepted" : data.status().to_string();
}

TEST(DataYaml, ReadsClassesPoseAndSplitsRelativeToPath) {
  const testing::TempFolder folder;
  folder.write("sub/a/x.txt", "");
  const auto data = load_data_yaml(folder.write(
      "data.yaml",
      "path: sub\ntrain: [a, /elsewhere/b]\nval: a\nnames: {1: nut, 0: bolt}\nkpt_shape: [2, 3]\n"
      "flip_idx: [1, 0]\nchannels: 1\ndownload: rm -rf /\n"));
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_THAT(data->names, ElementsAre("bolt", "nut"));
  EXPECT_EQ(data->nc, 2);
  EXPECT_EQ(data->root, folder.root() + "/sub");
  EXPECT_THAT(data->splits.at("train"), ElementsAre(folder.root() + "/sub/a", "/elsewhere/b"));
  EXPECT_THAT(data->flip_idx, ElementsAre(1, 0));
  EXPECT_EQ(data->channels, 1);
  EXPECT_TRUE(data->has_download);
}

TEST(DataYaml, FindsABareNameInTheFolderOfDataSets) {
  const testing::TempFolder folder, sets;
  sets.write("coco8_of_test/images/x", "");
  setenv("YOLOAD_DATASETS_DIR", sets.root().c_str(), 1);
  const auto data =
      load_data_yaml(folder.write("data.yaml", "path: coco8_of_test\ntrain: images\nnames: [a]\n"));
  unsetenv("YOLOAD_DATASETS_DIR");
  ASSERT_TRUE(data.ok());
  EXPECT_THAT(data->splits.at("train"), ElementsAre(sets.root() + "/coco8_of_test/images"));
}

TEST(DataYaml, ErrorsSayWhatAndWhere) {
  const std::string head = "train: images\nval: images\n";
  EXPECT_THAT(complaint_of(head + "names: {0: a, 2: b}\n"),
              HasSubstr("line 3: names has no class 1"));
  EXPECT_THAT(complaint_of(head + "nc: 2\nnames: [a]\n"), HasSubstr("line 3: nc is 2"));
  EXPECT_THAT(complaint_of(head + "names:\n\t0: a\n"), HasSubstr("line 4: a tab"));
  EXPECT_THAT(complaint_of("val: images\nnames: [a]\n"), HasSubstr("'train'"));
  EXPECT_THAT(complaint_of("train: a\nvalidation: b\nnames: [a]\n"), HasSubstr("'val'"));
  EXPECT_THAT(complaint_of(head + "names: [a\n"), HasSubstr("line "));
  EXPECT_THAT(complaint_of(head + "names: [a]\nkpt_shape: [17, 4]\n"), HasSubstr("kpt_shape[1]"));
  EXPECT_THAT(complaint_of(head + "names: [a]\nkpt_shape: [2, 3]\nflip_idx: [0, 0]\n"),
              HasSubstr("line 5: flip_idx"));
  EXPECT_THAT(complaint_of("just text"), HasSubstr("not a map"));
}

TEST(DataYaml, JudgesEveryTortureFileAsTheManifestSays) {
  const std::string root = testing::shared_data("torture-labels");
  if (root.empty()) GTEST_SKIP() << "torture-labels not found";
  std::ifstream manifest(root + "/MANIFEST.tsv");
  int judged = 0;
  for (std::string line; std::getline(manifest, line);) {
    std::vector<std::string> columns;
    std::stringstream stream(line);
    for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
    if (columns.size() < 5 || columns[1] != "data.yaml") continue;
    const auto data = load_data_yaml(root + "/" + columns[0]);
    const bool refused = columns[4] == "error";
    EXPECT_EQ(data.ok(), !refused) << columns[0];
    if (data.ok() && columns[4].starts_with("nc=")) {
      EXPECT_EQ("nc=" + std::to_string(data->nc), columns[4]) << columns[0];
    }
    if (data.ok()) {
      for (const std::string& path : data->splits.at("train")) {
        EXPECT_TRUE(std::filesystem::exists(path)) << columns[0] << " " << path;
      }
    }
    ++judged;
  }
  EXPECT_GE(judged, 18);
  EXPECT_EQ(load_data_yaml(root + "/yaml/names_quoted.yaml")->names[1], "nut: M6");
  EXPECT_EQ(load_data_yaml(root + "/yaml/comments.yaml")->names[0], "bolt");
}

TEST(DataYaml, SurvivesAnyBytes) {
  const testing::TempFolder folder;
  rc::check([&](const std::string& noise) {
    (void)load_data_yaml(folder.write("a.yaml", "train: a\nnames: [a]\n" + noise)).ok();
    (void)load_data_yaml(folder.write("a.yaml", noise)).ok();
  });
  (void)load_data_yaml(folder.write("a.yaml", std::string(100'000, '['))).ok();
}

}  // namespace
}  // namespace yoload
