// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tile_pool.h"

#include <gtest/gtest.h>

namespace yoload {
namespace {

class TilePoolTest : public testing::Test {
 protected:
  TilePoolTest() : images_(1000) {
    index_.images = images_;
    options_.window = 64;  // 8 streams of 8: a position lives for 56 more
    epoch_ = std::make_shared<Epoch>(options_, index_, 0, nullptr);
  }
  std::shared_ptr<PoolEntry> ready(uint64_t position) {
    bool made = false;
    auto entry = pool_.pin(epoch_, position, &made);
    entry->ready = true;
    return entry;
  }
  std::vector<ImageRecord> images_;
  DatasetIndex index_;
  LoaderOptions options_;
  std::shared_ptr<const Epoch> epoch_;
  TilePool pool_;
};

TEST_F(TilePoolTest, OneEntryPerPosition) {
  bool made = false;
  const auto first = pool_.pin(epoch_, 5, &made);
  EXPECT_TRUE(made);
  EXPECT_EQ(pool_.pin(epoch_, 5, &made), first);
  EXPECT_FALSE(made);
  EXPECT_EQ(first->pins, 2);
}

TEST_F(TilePoolTest, EntriesLeaveWithTheirLastUser) {
  const auto entry = ready(5);
  pool_.unpin(entry.get());
  pool_.advance(*epoch_, 5 + 56);
  EXPECT_EQ(pool_.size(), 1u);
  pool_.advance(*epoch_, 5 + 57);
  EXPECT_EQ(pool_.size(), 0u);
}

TEST_F(TilePoolTest, HeldEntriesLeaveWhenReleased) {
  const auto entry = ready(5);
  pool_.advance(*epoch_, 500);
  EXPECT_EQ(pool_.size(), 1u);
  pool_.unpin(entry.get());
  EXPECT_EQ(pool_.size(), 0u);
}

TEST_F(TilePoolTest, EvictsTheOldestTrailingEntryThenTheFarthestAhead) {
  for (const uint64_t position : {10, 20, 30, 40}) pool_.unpin(ready(position).get());
  const auto held = ready(5);
  ASSERT_TRUE(pool_.evict_one(0, 25));
  ASSERT_TRUE(pool_.evict_one(0, 25));
  bool made = false;
  pool_.pin(epoch_, 30, &made);
  EXPECT_FALSE(made);
  ASSERT_TRUE(pool_.evict_one(0, 25)) << "40 lies ahead, 30 is held now";
  EXPECT_FALSE(pool_.evict_one(0, 25));
  EXPECT_EQ(pool_.size(), 2u);
}

TEST_F(TilePoolTest, ANewEpochFinishesTheOldOne) {
  pool_.unpin(ready(999).get());
  const Epoch next(options_, index_, 1, nullptr);
  pool_.advance(next, 0);
  EXPECT_EQ(pool_.size(), 0u);
}

}  // namespace
}  // namespace yoload
