// SPDX-License-Identifier: Apache-2.0
#include "metrics/stage_clock.h"

#include <gtest/gtest.h>

namespace yoload {
namespace {

TEST(Histogram, BucketEdgesContainTheirValues) {
  for (uint64_t ns = 0; ns < 100'000'000; ns = ns * 5 / 4 + 1) {
    const size_t bucket = bucket_of(ns);
    EXPECT_LT(ns, bucket_ns(bucket)) << ns;
    if (bucket > 0) {
      EXPECT_GE(ns, bucket_ns(bucket - 1)) << ns;
    }
  }
}

TEST(Histogram, QuantilesAreWithinABucket) {
  Clocks clocks;
  ThreadClocks* thread = clocks.add_thread();
  for (int i = 1; i <= 1000; ++i) thread->add(Work::decode, i * 10'000, 5);
  const WorkTotals totals = clocks.totals()[static_cast<size_t>(Work::decode)];
  EXPECT_EQ(totals.count, 1000u);
  EXPECT_EQ(totals.bytes, 5000u);
  EXPECT_NEAR(totals.quantile_ms(0.5), 5.0, 1.0);
  EXPECT_NEAR(totals.quantile_ms(0.99), 9.9, 2.0);
  EXPECT_NEAR(totals.busy_s(), 5.005, 0.001);
}

TEST(Clocks, SumOverThreads) {
  Clocks clocks;
  clocks.add_thread()->add(Work::read, 7);
  clocks.add_thread()->add(Work::read, 8);
  EXPECT_EQ(clocks.totals()[static_cast<size_t>(Work::read)].busy_ns, 15u);
}

}  // namespace
}  // namespace yoload
