// SPDX-License-Identifier: Apache-2.0
#include "dataset/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "dataset/test_files.h"

namespace yoload {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Discovery, TurnsTheLastImagesFolderIntoLabels) {
  EXPECT_EQ(label_path_of("/d/images/images/a.b.JPG"), "/d/images/labels/a.b.txt");
  EXPECT_EQ(label_path_of("/d/images/x.jpg.jpg"), "/d/labels/x.jpg.txt");
  EXPECT_EQ(label_path_of("/d/my_images/x.jpg"), "/d/my_images/x.txt");
  EXPECT_EQ(text_beside("/d.v1/images/x"), "/d.v1/images/x.txt");
}

TEST(Discovery, ListsPicturesSortedAndLeavesOtherFilesAlone) {
  const testing::TempFolder folder;
  for (const char* name : {"b.jpg", "a/z.PNG", "B.Jpeg", "[x]*.webp", ".hidden.jpg", "a/.d/q.jpg",
                           "x.npy", "notes.txt", "jpg"}) {
    folder.write(std::string("set/") + name, "x");
  }
  std::filesystem::create_directory_symlink("..", folder.root() + "/set/a/loop");
  ASSERT_EQ(mkfifo((folder.root() + "/set/pipe.jpg").c_str(), 0600), 0);
  PictureList list;
  const std::string set = folder.root() + "/set";
  ASSERT_TRUE(add_pictures(set, list).ok());
  EXPECT_THAT(list.paths,
              ElementsAre(set + "/B.Jpeg", set + "/[x]*.webp", set + "/a/z.PNG", set + "/b.jpg"));
}

TEST(Discovery, ReadsListsRelativeToTheListAndKeepsRepeatedLines) {
  const testing::TempFolder folder;
  folder.write("images/a b.jpg", "x");
  folder.write("images/c.jpg", "x");
  const std::string file = folder.write(
      "l.txt", "./images/a b.jpg  \r\n\r\nimages/c.jpg\r\nimages/c.jpg\r\nimages/gone.jpg\r\n");
  PictureList list;
  ASSERT_TRUE(add_pictures(file, list).ok());
  const std::string images = folder.root() + "/images";
  EXPECT_THAT(list.paths, ElementsAre(images + "/a b.jpg", images + "/c.jpg", images + "/c.jpg"));
  ASSERT_EQ(list.problems.size(), 1u);
  EXPECT_EQ(list.problems[0].kind, "missing_image");
  EXPECT_EQ(list.problems[0].line, 5u);
}

TEST(Discovery, OrdersClassesByFolderName) {
  const testing::TempFolder folder;
  folder.write("dog/1.jpg", "x");
  folder.write("cat/deep/2.jpg", "x");
  folder.write("cat/readme.md", "x");
  folder.write("stray.jpg", "x");
  const auto list = list_class_folders(folder.root());
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->names, ElementsAre("cat", "dog"));
  EXPECT_THAT(list->classes, ElementsAre(0, 1));
}

TEST(Discovery, SaysWhatIsMissing) {
  PictureList list;
  const Status status = add_pictures("/nowhere/at/all", list);
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_THAT(list.paths, IsEmpty());
}

}  // namespace
}  // namespace yoload
