// VOC, DOTA and COCO through their readers, on small texts; the hard cases are in the torture set.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "dataset/coco_json.h"
#include "dataset/dataset.h"
#include "dataset/dota_txt.h"
#include "dataset/test_files.h"
#include "dataset/voc_xml.h"

namespace yoload {
namespace {

using ::testing::HasSubstr;

const ImageInfo kInfo = [] {
  ImageInfo info;
  info.width_px = 200, info.height_px = 100;
  return info;
}();

std::string object(const std::string& name, const std::string& box) {
  return "<object><name>" + name + "</name><bndbox>" + box + "</bndbox></object>";
}

TEST(VocXml, CountsPixelsFromOneAndIncludesBothEnds) {
  const std::string xml =
      "<annotation>" +
      object("nut", "<xmin>1</xmin><ymin>1</ymin><xmax>200</xmax><ymax>100</ymax>") +
      "</annotation>";
  const ParsedLabels labels = parse_voc(xml, "a.xml", kInfo, {"bolt", "nut"});
  ASSERT_EQ(labels.rows.size(), 1u);
  EXPECT_EQ(labels.rows[0].cls, 1);
  EXPECT_FLOAT_EQ(labels.rows[0].w, 1);
  EXPECT_FLOAT_EQ(labels.rows[0].h, 1);
  EXPECT_FLOAT_EQ(labels.rows[0].x, 0.5);
}

TEST(VocXml, NamesTheLineOfWhatIsWrong) {
  const std::string xml =
      "<annotation>\n" + object("nut", "<xmin>5</xmin><ymin>1</ymin><xmax>9</xmax>") + "\n" +
      object("gizmo", "<xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax>") +
      "\n</annotation>";
  const ParsedLabels labels = parse_voc(xml, "a.xml", kInfo, {"nut"});
  EXPECT_TRUE(labels.rows.empty());
  ASSERT_EQ(labels.problems.size(), 2u);
  EXPECT_EQ(labels.problems[0].kind, "not_a_number");
  EXPECT_EQ(labels.problems[0].line, 2u);
  EXPECT_EQ(labels.problems[1].kind, "unknown_class");
  EXPECT_EQ(labels.problems[1].line, 3u);
}

TEST(VocXml, EveryPrefixOfAFileIsRefusedOrRead) {
  const std::string xml =
      "<annotation>" + object("nut", "<xmin>1</xmin><ymin>1</ymin><xmax>20</xmax><ymax>10</ymax>") +
      "</annotation>";
  for (size_t bytes = 0; bytes < xml.size(); ++bytes) {
    const ParsedLabels labels = parse_voc(xml.substr(0, bytes), "a.xml", kInfo, {"nut"});
    EXPECT_TRUE(labels.rows.empty()) << bytes;
    EXPECT_FALSE(labels.problems.empty()) << bytes;
  }
}

TEST(DotaTxt, KeepsCornersAndBoxesTheirHull) {
  const ParsedLabels labels =
      parse_dota("imagesource:GoogleEarth\ngsd:0.1\n20 10 60 10 60 50 20 50 ship 0\r\n1 2 3 ship\n",
                 "a.txt", kInfo, {"ship"});
  ASSERT_EQ(labels.rows.size(), 1u);
  EXPECT_FLOAT_EQ(labels.rows[0].x, 0.2);
  EXPECT_FLOAT_EQ(labels.rows[0].y, 0.3);
  ASSERT_EQ(labels.polygon_counts, (std::vector<uint32_t>{4}));
  EXPECT_FLOAT_EQ(labels.polygon_points[0], 0.1);
  ASSERT_EQ(labels.problems.size(), 1u);
  EXPECT_EQ(labels.problems[0].line, 4u);
}

class CocoFile : public ::testing::Test {
 protected:
  /// Two pictures of 200 x 100 (by name only) and the given annotations.
  Result<CocoDataset> read(
      const std::string& annotations, Task task = Task::detect,
      const std::string& images = R"({"id":1,"file_name":"a.jpg"},{"id":2,"file_name":"b.jpg"})") {
    const std::string root = folder_.root();
    std::filesystem::create_directories(root + "/images");
    for (const char* name : {"a.jpg", "b.jpg"}) std::ofstream(root + "/images/" + name) << "x";
    std::filesystem::create_directories(root + "/annotations");
    std::ofstream(root + "/annotations/instances_train.json")
        << R"({"images":[)" << images
        << R"(],"categories":[{"id":7,"name":"b"},{"id":3,"name":"a"}],"annotations":[)"
        << annotations << "]}";
    return open_coco(root + "/annotations/instances_train.json", "", "train", task);
  }
  testing::TempFolder folder_;
};

TEST_F(CocoFile, MapsCategoriesByAscendingIdAndNormalisesByTheRealSize) {
  const auto data = read(R"({"id":1,"image_id":2,"category_id":7,"bbox":[20,10,40,20]})");
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_EQ(data->names, (std::vector<std::string>{"a", "b"}));
  const ParsedLabels labels = data->labels->labels_of(data->pictures.paths[1], kInfo);
  ASSERT_EQ(labels.rows.size(), 1u);
  EXPECT_EQ(labels.rows[0].cls, 1);
  EXPECT_FLOAT_EQ(labels.rows[0].x, 0.2);
  EXPECT_FLOAT_EQ(labels.rows[0].w, 0.2);
  EXPECT_TRUE(data->labels->labels_of(data->pictures.paths[0], kInfo).rows.empty());
}

TEST_F(CocoFile, JoinsThePartsOfAPolygonThroughTheirNearestPoints) {
  const auto data = read(
      R"({"id":1,"image_id":1,"category_id":3,"bbox":[0,0,100,50],"segmentation":[[0,0,10,0,10,10],[20,10,40,10,40,30]]})",
      Task::segment);
  ASSERT_TRUE(data.ok());
  const ParsedLabels labels = data->labels->labels_of(data->pictures.paths[0], kInfo);
  // Three corners, over to the second part, around it, and back: 3 + 3 + 1 + 1.
  ASSERT_EQ(labels.polygon_counts, (std::vector<uint32_t>{8}));
  EXPECT_FLOAT_EQ(labels.polygon_points[6], 20 / 200.0F);
}

TEST_F(CocoFile, RefusesPathsThatLeaveTheFolder) {
  const auto data = read("", Task::detect,
                         R"({"id":1,"file_name":"../../etc/passwd"},{"id":2,"file_name":"b.jpg"})");
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->pictures.paths.size(), 1u);
  ASSERT_EQ(data->pictures.problems.size(), 1u);
  EXPECT_EQ(data->pictures.problems[0].kind, "path_escape");
}

TEST_F(CocoFile, SkipsCrowdsWithANoteAndBadBoxesWithAnError) {
  const auto data = read(R"({"id":1,"image_id":1,"category_id":3,"bbox":[0,0,9,9],"iscrowd":1},
                            {"id":2,"image_id":1,"category_id":3,"bbox":[0,0,9]},
                            {"id":3,"image_id":9,"category_id":3,"bbox":[0,0,9,9]},
                            {"id":4,"image_id":1,"category_id":99,"bbox":[0,0,9,9]})");
  ASSERT_TRUE(data.ok());
  EXPECT_TRUE(data->labels->labels_of(data->pictures.paths[0], kInfo).rows.empty());
  std::vector<std::string> kinds;
  for (const Problem& problem : data->pictures.problems) kinds.push_back(problem.kind);
  EXPECT_THAT(kinds, ::testing::UnorderedElementsAre("bad_box", "unknown_image", "unknown_category",
                                                     "crowd"));
}

}  // namespace
}  // namespace yoload
