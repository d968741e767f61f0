// SPDX-License-Identifier: Apache-2.0
#include "dataset/yolo_txt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <clocale>
#include <fstream>
#include <sstream>

#include "dataset/test_files.h"
#include "dataset/text_file.h"

namespace yoload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

LabelRules rules_of(Task task) {
  LabelRules rules{task, 3};
  if (task == Task::pose) rules.nc = 1, rules.kpt_count = 5, rules.kpt_dims = 3;
  return rules;
}

ParsedLabels detect(std::string_view text) {
  return parse_yolo_txt(text, rules_of(Task::detect));
}

TEST(YoloTxt, ReadsBoxesWhateverTheLineEndsBomAndBlankLines) {
  const ParsedLabels labels = detect(
      "\xEF\xBB\xBF"
      "0 0.5 0.5 0.2 0.3\r\n\r\n \t\n2\t.5 +0.25 1e-1 1.e-1\r1.0 1 1 1 1");
  EXPECT_THAT(labels.problems, IsEmpty());
  ASSERT_EQ(labels.rows.size(), 3u);
  EXPECT_EQ(labels.rows[1].cls, 2);
  EXPECT_FLOAT_EQ(labels.rows[1].w, 0.1F);
}

TEST(YoloTxt, ABadRowCostsThatRowAndNamesItsLine) {
  const ParsedLabels labels = detect("0 .5 .5 .1 .1\n\n1.5 .5 .5 .1 .1\n1 .5 .5 .2 .2\n");
  EXPECT_EQ(labels.rows.size(), 2u);
  ASSERT_EQ(labels.problems.size(), 1u);
  EXPECT_EQ(labels.problems[0].kind, "class_not_integer");
  EXPECT_EQ(labels.problems[0].line, 3u);
}

TEST(YoloTxt, HintsAtPixels) {
  const ParsedLabels labels = detect("0 320 240 100 50\n");
  ASSERT_EQ(labels.problems.size(), 1u);
  EXPECT_THAT(labels.problems[0].cause, HasSubstr("looks like pixels"));
}

TEST(YoloTxt, ClipsOnePercentOutsideAndRefusesMore) {
  EXPECT_EQ(detect("0 1.0021 .5 .2 .2").rows.at(0).x, 1.0F);
  EXPECT_EQ(detect("0 -0.005 .5 .2 .2").rows.at(0).x, 0.0F);
  EXPECT_THAT(detect("0 1.02 .5 .2 .2").rows, IsEmpty());
}

TEST(YoloTxt, DropsSizesThatVanishInFloat) {
  const ParsedLabels labels = detect("0 .5 .5 1e-60 .2\n0 .5 .5 1e-30 .2\n");
  EXPECT_EQ(labels.rows.size(), 1u);
  EXPECT_EQ(labels.problems.at(0).kind, "zero_size");
}

TEST(YoloTxt, KeepsOneOfEqualRows) {
  const ParsedLabels labels = detect("0 .5 .5 .1 .1\n0 0.5 .50 .1 .1\n1 .5 .5 .1 .1\n");
  EXPECT_EQ(labels.rows.size(), 2u);
  EXPECT_EQ(labels.problems.at(0).kind, "duplicate_row");
}

TEST(YoloTxt, MixesPolygonsAndBoxes) {
  const char* text = "0 .1 .1 .5 .1 .5 .4 .1 .4\n1 .25 .3 .1 .2\n";
  const ParsedLabels boxes = detect(text);
  ASSERT_EQ(boxes.rows.size(), 2u);
  EXPECT_FLOAT_EQ(boxes.rows[0].x, 0.3F);
  EXPECT_FLOAT_EQ(boxes.rows[1].h, 0.2F);
  EXPECT_THAT(boxes.polygon_counts, IsEmpty());
  const ParsedLabels polygons = parse_yolo_txt(text, rules_of(Task::segment));
  EXPECT_THAT(polygons.polygon_counts, ElementsAre(4u, 0u));
  EXPECT_EQ(polygons.problems.at(0).kind, "box_without_polygon");
}

TEST(YoloTxt, MakesKeypointsOutsideInvisible) {
  LabelRules rules{Task::pose, 1, 2, 2};
  const ParsedLabels labels = parse_yolo_txt("0 .5 .5 .4 .4 .5 .5 1.2 .5\n", rules);
  EXPECT_THAT(labels.keypoints, ElementsAre(.5F, .5F, 1, 1, .5F, 0));
  EXPECT_EQ(labels.problems.at(0).kind, "keypoint_outside");
}

TEST(YoloTxt, KeepsCornersOfOrientedBoxesOutsideThePicture) {
  const ParsedLabels labels = parse_yolo_txt("0 .9 .1 1.2 .1 1.2 .3 .9 .3\n", rules_of(Task::obb));
  EXPECT_THAT(labels.polygon_counts, ElementsAre(4u));
  EXPECT_FLOAT_EQ(labels.polygon_points[2], 1.2F);
  EXPECT_NEAR(labels.rows.at(0).w, 0.1F, 1e-6F);
}

TEST(YoloTxt, DoesNotDependOnTheLocale) {
  const char* old = std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
  EXPECT_EQ(detect("0 0.5 0.5 0.25 0.25").rows.at(0).w, 0.25F);
  if (old != nullptr) std::setlocale(LC_NUMERIC, "C");
}

TEST(YoloTxt, BoundsTheComplaintsAboutOneFile) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "x\n";
  EXPECT_EQ(detect(text).problems.size(), 101u);
}

TEST(YoloTxt, SurvivesAnyBytesAndKeepsColumnsInStep) {
  rc::check([](const std::string& noise) {
    const auto task = *rc::gen::element(Task::detect, Task::segment, Task::pose, Task::obb);
    const ParsedLabels labels =
        parse_yolo_txt("0 .1 .1 .4 .1 .4 .4\n" + noise + "\n1 .5 .5 .1 .1\n", rules_of(task));
    RC_ASSERT(labels.polygon_counts.empty() || labels.polygon_counts.size() == labels.rows.size());
    for (const LabelRow& row : labels.rows) RC_ASSERT(row.w > 0 && row.h > 0 && row.x <= 1);
  });
}

TEST(YoloTxt, JudgesEveryTortureFileAsTheManifestSays) {
  const std::string root = testing::shared_data("torture-labels");
  if (root.empty()) GTEST_SKIP() << "torture-labels not found";
  std::ifstream manifest(root + "/MANIFEST.tsv");
  std::string line;
  int judged = 0;
  while (std::getline(manifest, line)) {
    std::vector<std::string> columns;
    std::stringstream stream(line);
    for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
    if (columns.size() < 5 || columns[1] != "YOLO txt" || !columns[0].ends_with(".txt")) continue;
    Task task = Task::detect;
    for (const Task t : {Task::segment, Task::pose, Task::obb}) {
      if (columns[2] == name(t)) task = t;
    }
    const auto text = read_text_file(root + "/" + columns[0]);
    ASSERT_TRUE(text.ok()) << columns[0];
    const ParsedLabels labels = parse_yolo_txt(*text, rules_of(task));
    const std::string verdict = "|" + columns[4] + "|";
    EXPECT_THAT(verdict, HasSubstr("|usable=" + std::to_string(labels.rows.size()) + "|"))
        << columns[0] << ": " << columns[3];
    ++judged;
  }
  EXPECT_GT(judged, 60);
}

TEST(YoloTxt, NamesAClassThatNoIntegerCanHold) {  // found by fuzzing
  LabelRules rules;
  rules.nc = 3;
  const ParsedLabels labels = parse_yolo_txt("23333333333333333333 .5 .5 .2 .2\n", rules);
  EXPECT_TRUE(labels.rows.empty());
  ASSERT_EQ(labels.problems.size(), 1u);
  EXPECT_EQ(labels.problems[0].kind, "class_out_of_range");
}

}  // namespace
}  // namespace yoload
