// SPDX-License-Identifier: Apache-2.0
#include "sampler/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace yoload {
namespace {

TEST(EpochOrder, IsAPermutationForEverySize) {
  for (const uint64_t images : {1, 2, 3, 7, 8, 9, 100, 255, 256, 257, 4095, 70'001}) {
    const EpochOrder order(images, 3, 1, true);
    std::vector<bool> seen(images);
    for (uint64_t position = 0; position < images; ++position) {
      const uint32_t record = order.record_at(position);
      ASSERT_LT(record, images);
      ASSERT_FALSE(seen[record]) << images;
      seen[record] = true;
    }
  }
}

TEST(EpochOrder, WithoutShuffleIsTheIdentity) {
  const EpochOrder order(100, 3, 1, false);
  for (uint64_t position = 0; position < 100; ++position)
    EXPECT_EQ(order.record_at(position), position);
}

TEST(EpochOrder, EpochsAndSeedsGiveOtherOrders) {
  const EpochOrder base(1000, 0, 0, true);
  for (const auto& [seed, epoch] : {std::pair{0, 1}, {1, 0}, {1, 1}}) {
    const EpochOrder other(1000, static_cast<uint64_t>(seed), static_cast<uint32_t>(epoch), true);
    int same = 0;
    for (uint64_t position = 0; position < 1000; ++position) {
      same += base.record_at(position) == other.record_at(position) ? 1 : 0;
    }
    EXPECT_LT(same, 10);
  }
}

TEST(EpochOrder, EveryRecordIsEquallyLikelyAtAPosition) {
  // Chi-square over 20 records and 20,000 epochs: 19 degrees of freedom, 43.8 is the 0.1 % point.
  for (const uint64_t position : {0, 7, 19}) {
    std::vector<int> counts(20);
    for (uint32_t epoch = 0; epoch < 20'000; ++epoch) {
      ++counts[EpochOrder(20, 5, epoch, true).record_at(position)];
    }
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
    EXPECT_LT(chi_square, 43.8) << position;
  }
}

TEST(PartnerWindow, IsTheWholeSetWhenItIsSmall) {
  const PartnerWindow window = partner_window(100, 256, 512);
  EXPECT_EQ(window.first, 0u);
  EXPECT_EQ(window.count, 256u);
  EXPECT_EQ(window.stride, 1u);
}

TEST(PartnerWindow, TrailsInsideTheSameStreamAndTheEpoch) {
  const uint64_t images = 5003;
  for (uint64_t position = 0; position < images; ++position) {
    const PartnerWindow window = partner_window(position, images, 512);
    ASSERT_EQ(window.count, 64u);
    ASSERT_LT(window.at(63), images);
    ASSERT_EQ(window.first % kStreams, position % kStreams);
    ASSERT_LE(window.first, position);
    ASSERT_GE(window.at(63), position);
    if (position >= 64 * kStreams) {
      ASSERT_EQ(window.at(63), position);
    }
  }
}

TEST(Replacement, IsAFunctionOfAttempt) {
  std::set<uint32_t> seen;
  for (uint32_t attempt = 1; attempt <= 10; ++attempt) {
    const uint32_t record = replacement_record(1000, 1, 2, 3, attempt);
    EXPECT_EQ(record, replacement_record(1000, 1, 2, 3, attempt));
    EXPECT_LT(record, 1000u);
    seen.insert(record);
  }
  EXPECT_GT(seen.size(), 7u);
}

}  // namespace
}  // namespace yoload
