// The helpers of the command line program: sizes, JSON, digests, drawing, the demo's data set.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/json.h"
#include "yoload/batch_digest.h"
#include "yoload/batch_view.h"
#include "yoload/board_art.h"
#include "yoload/demo_dataset.h"
#include "yoload/image_files.h"
#include "yoload/stroke_font.h"
#include "yoload/units.h"

namespace yoload::cli {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "yoload-cli-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Units, SizesAreReadTheWayPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_EQ(parse_bytes("256MB"), 256'000'000u);
  EXPECT_EQ(parse_bytes("256 mb"), 256'000'000u);
  EXPECT_EQ(parse_bytes("1GiB"), uint64_t{1} << 30);
  EXPECT_EQ(parse_bytes("1.5k"), 1500u);
  EXPECT_EQ(parse_bytes("2Ti"), uint64_t{2} << 40);
  EXPECT_EQ(parse_bytes("0"), 0u);
}

TEST(Units, NonsenseIsNoSize) {
  for (const char* text : {"", "MB", "-1", "12XB", "1GB2", "nan", "inf", "1e400", "99999999999TB",
                           "0x10", "1 kilo", "Ki"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(Units, SizesAreWrittenWithThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1'500'000), "1.5 MB");
  EXPECT_EQ(format_bytes(999'999'999), "1 GB");
}

TEST(Json, HostileFileNamesStayValidJson) {
  JsonWriter json;
  json.value(std::string("a\"b\\c\n\x01 \xff \xc3\xa4 \xed\xa0\x80"));
  // The lone byte and the encoded surrogate are not UTF-8; the umlaut is.
  EXPECT_EQ(json.take(), "\"a\\\"b\\\\c\\n\\u0001 \\ufffd \xc3\xa4 \\ufffd\\ufffd\\ufffd\"");
}

TEST(Json, NumbersThatJsonCannotHoldBecomeNull) {
  JsonWriter json;
  json.begin_array().value(std::numeric_limits<double>::infinity()).value(std::nan("")).end_array();
  EXPECT_EQ(json.take(), "[null,null]");
}

TEST(StrokeFont, EveryByteHasAGlyph) {
  for (int c = 0; c < 256; ++c) {
    const Glyph glyph = glyph_of(static_cast<char>(c));
    EXPECT_GE(glyph.width, 0);
    EXPECT_EQ(glyph.strokes.empty(), c == ' ') << c;
  }
}

Batch small_batch() {
  Batch batch;
  batch.epoch = 1;
  batch.index = 2;
  batch.size = 2;
  batch.channels = 3;
  batch.height_px = batch.width_px = 8;
  batch.img = std::shared_ptr<uint8_t>(new uint8_t[384](), std::default_delete<uint8_t[]>());
  batch.cls = {3, 5};
  batch.bboxes = {0.5f, 0.5f, 0.5f, 0.25f, 0.25f, 0.75f, 0.5f, 0.5f};
  batch.batch_idx = {0, 1};
  batch.samples.resize(2);
  return batch;
}

uint64_t digest_of(const Batch& batch) {
  BatchDigest digest;
  digest.add(batch);
  return digest.value();
}

TEST(BatchDigest, EveryFieldCounts) {
  const uint64_t original = digest_of(small_batch());
  EXPECT_EQ(digest_of(small_batch()), original);
  const auto changed = [](auto change) {
    Batch batch = small_batch();
    change(&batch);
    return digest_of(batch);
  };
  EXPECT_NE(changed([](Batch* b) { b->img.get()[383] = 1; }), original);
  EXPECT_NE(changed([](Batch* b) { b->epoch = 2; }), original);
  EXPECT_NE(changed([](Batch* b) { b->index = 3; }), original);
  EXPECT_NE(changed([](Batch* b) { b->cls[1] = 4; }), original);
  EXPECT_NE(changed([](Batch* b) { b->bboxes[7] = 0.25f; }), original);
  EXPECT_NE(changed([](Batch* b) { b->batch_idx[0] = 1; }), original);
  EXPECT_NE(changed([](Batch* b) { b->keypoints.push_back(0); }), original);
  EXPECT_NE(changed([](Batch* b) { b->masks.push_back(0); }), original);
  EXPECT_NE(changed([](Batch* b) { b->samples[1].record = 9; }), original);
  EXPECT_NE(changed([](Batch* b) { b->samples[1].replaced = true; }), original);
}

TEST(BatchDigest, ANumberThatMovesToTheNextArrayIsSeen) {
  Batch left = small_batch(), right = small_batch();
  left.cls = {1};
  left.bboxes = {};
  right.cls = {};
  right.bboxes = {1};
  EXPECT_NE(digest_of(left), digest_of(right));
}

TEST(BatchDigest, TheOrderOfBatchesCounts) {
  Batch first = small_batch(), second = small_batch();
  second.index = 3;
  BatchDigest forward, backward;
  forward.add(first);
  forward.add(second);
  backward.add(second);
  backward.add(first);
  EXPECT_NE(forward.value(), backward.value());
}

TEST(BatchView, ObjectsBelongToTheirSampleInPixels) {
  const std::vector<DrawnObject> objects = sample_objects(small_batch(), 1);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].cls, 5);
  EXPECT_FLOAT_EQ(objects[0].centre.x, 2);
  EXPECT_FLOAT_EQ(objects[0].centre.y, 6);
  EXPECT_FLOAT_EQ(objects[0].half.x, 2);
}

TEST(BatchView, PlanesBecomePixels) {
  Batch batch = small_batch();
  batch.img.get()[192 + 10] = 200;       // second sample, red, pixel (2, 1)
  batch.img.get()[192 + 64 + 10] = 100;  // green
  const RgbImage image = sample_image(batch, 1);
  EXPECT_EQ(image.at(2, 1).r, 200);
  EXPECT_EQ(image.at(2, 1).g, 100);
  EXPECT_EQ(image.at(2, 1).b, 0);
}

TEST(BatchView, LabelsFarOutsideThePictureAreClipped) {
  Batch batch = small_batch();
  batch.bboxes = {1e30f, -1e30f, 1e30f, 1e30f, std::nanf(""), 0.5f, 0.5f, 0.5f};
  RgbImage image = sample_image(batch, 0);
  draw_labels(batch, 0, {}, &image);
  draw_labels(batch, 1, {"a"}, &image);
  EXPECT_EQ(image.pixels.size(), 64u);
}

TEST(Drawing, AFilledBoxCoversItsPixelsAndNoOthers) {
  RgbImage image(10, 10);
  fill_box(&image, {5, 5}, {2, 3}, 0, 0, {{255, 255, 255}});
  EXPECT_EQ(image.at(3, 2).r, 255);
  EXPECT_EQ(image.at(6, 7).r, 255);
  EXPECT_EQ(image.at(2, 5).r, 0);
  EXPECT_EQ(image.at(5, 8).r, 0);
}

TEST(RgbImage, ShrinkingKeepsTheMeanLevel) {
  RgbImage image(100, 50, {90, 10, 200});
  for (int x = 0; x < 100; x += 2) {
    for (int y = 0; y < 50; ++y) image.at(x, y).r = 110;
  }
  const RgbImage small = shrink_to(image, 25);
  ASSERT_EQ(small.width_px, 25);
  ASSERT_EQ(small.height_px, 13);
  EXPECT_NEAR(small.at(12, 6).r, 100, 1);
  EXPECT_EQ(small.at(12, 6).b, 200);
}

TEST(ImageFiles, APngHoldsThePixelsThatWereWritten) {
  Folder folder;
  RgbImage image(3, 2, {1, 2, 3});
  image.at(2, 1) = {250, 251, 252};
  write_png(image, folder / "a.png");
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&header, (folder / "a.png").c_str()), 0);
  header.format = PNG_FORMAT_RGB;
  std::vector<Rgb> pixels(6);
  ASSERT_NE(png_image_finish_read(&header, nullptr, pixels.data(), 0, nullptr), 0);
  EXPECT_EQ(header.width, 3u);
  EXPECT_EQ(pixels[5].g, 251);
  EXPECT_EQ(pixels[0].b, 3);
}

TEST(ImageFiles, AFailedWriteNamesThePath) {
  try {
    write_png(RgbImage(2, 2), "/nonexistent-folder/a.png");
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/nonexistent-folder/a.png"));
  }
}

TEST(Boards, ThePictureIsAFunctionOfItsNumber) {
  const BoardPhoto a = draw_board(7, 3, 320, 240), b = draw_board(7, 3, 320, 240),
                   c = draw_board(7, 8, 320, 240);
  const auto bytes = [](const BoardPhoto& p) {
    return std::string(reinterpret_cast<const char*>(p.image.pixels.data()),
                       p.image.pixels.size() * 3);
  };
  EXPECT_EQ(bytes(a), bytes(b));
  EXPECT_NE(bytes(a), bytes(c));
}

TEST(Boards, EveryKindOfDefectOccursAndLiesInsideThePicture) {
  std::array<int, kDefectNames.size()> seen = {};
  int flawless = 0;
  for (int number = 0; number < 60; ++number) {
    const BoardPhoto photo = draw_board(7, number, 400, 300);
    flawless += photo.defects.empty();
    for (const Defect& d : photo.defects) {
      ++seen.at(static_cast<size_t>(d.cls));
      EXPECT_GE(d.x0, 0);
      EXPECT_GE(d.y0, 0);
      EXPECT_LE(d.x1, 400);
      EXPECT_LE(d.y1, 300);
      EXPECT_LT(d.x0, d.x1);
      EXPECT_LT(d.y0, d.y1);
    }
  }
  for (int count : seen) EXPECT_GE(count, 8);
  EXPECT_GE(flawless, 1);
  EXPECT_LE(flawless, 20);
}

DemoDataset small_demo(const Folder& folder) {
  DemoDataset wanted;
  wanted.folder = folder / "boards";
  wanted.train_images = 3;
  wanted.val_images = 1;
  wanted.width_px = 160;
  wanted.height_px = 120;
  return wanted;
}

TEST(DemoDataset, DoesNotDependOnThreadsAndIsReused) {
  Folder one, two;
  DemoDataset a = small_demo(one), b = small_demo(two);
  a.threads = 1;
  b.threads = 3;
  const std::string yaml = make_demo_dataset(a);
  make_demo_dataset(b);
  const fs::path picture = fs::path("images") / "train" / "board_00002.jpg";
  EXPECT_EQ(read_text(fs::path(a.folder) / picture), read_text(fs::path(b.folder) / picture));
  EXPECT_TRUE(fs::exists(fs::path(a.folder) / "labels" / "val" / "board_00003.txt"));

  const auto before = fs::last_write_time(yaml);
  EXPECT_EQ(make_demo_dataset(a), yaml);
  EXPECT_EQ(fs::last_write_time(yaml), before);

  a.train_images = 2;
  make_demo_dataset(a);
  EXPECT_FALSE(fs::exists(fs::path(a.folder) / picture));
}

TEST(DemoDataset, AFolderOfTheUsersIsNeverTouched) {
  Folder folder;
  const DemoDataset wanted = small_demo(folder);
  fs::create_directories(wanted.folder);
  std::ofstream(fs::path(wanted.folder) / "thesis.txt") << "precious";
  EXPECT_THROW(make_demo_dataset(wanted), std::runtime_error);
  EXPECT_FALSE(fs::exists(fs::path(wanted.folder) / "images"));
}

}  // namespace
}  // namespace yoload::cli
