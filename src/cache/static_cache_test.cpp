// SPDX-License-Identifier: Apache-2.0
#include "cache/static_cache.h"

#include <gtest/gtest.h>

namespace yoload {
namespace {

TEST(StaticCache, KeepsWhatCameFirstAndRefusesTheRest) {
  MemoryBudget budget(1000);
  {
    StaticCache<int> cache(&budget, 100);
    EXPECT_TRUE(cache.insert(1, std::make_shared<int>(11), 60));
    EXPECT_FALSE(cache.insert(2, std::make_shared<int>(22), 60));
    EXPECT_TRUE(cache.insert(3, std::make_shared<int>(33), 40));
    EXPECT_FALSE(cache.insert(1, std::make_shared<int>(12), 0)) << "there already";
    EXPECT_EQ(*cache.find(1), 11);
    EXPECT_EQ(cache.find(2), nullptr);
    EXPECT_EQ(budget.used_bytes(), 100u);
  }
  EXPECT_EQ(budget.used_bytes(), 0u) << "a cache gives its bytes back";
}

TEST(StaticCache, LeavesTheSharedBudgetToOthers) {
  MemoryBudget budget(100);
  ASSERT_TRUE(budget.try_take(50));
  StaticCache<int> cache(&budget, 100);
  EXPECT_FALSE(cache.insert(1, std::make_shared<int>(1), 60));
  EXPECT_TRUE(cache.insert(1, std::make_shared<int>(1), 50));
}

}  // namespace
}  // namespace yoload
