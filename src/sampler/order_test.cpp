// SPDX-License-Identifier: Apache-2.0
#include "sampler/order.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace yoload {
namespace {

TEST(EpochOrder, IsABijectionForAnySize) {
  for (const uint64_t images :
       {1u, 2u, 3u, 7u, 8u, 100u, 4096u, 4097u, 5000u, 8191u, 8193u, 65537u}) {
    const EpochOrder order(images, 5, 3, true);
    std::vector<int> seen(images);
    for (uint64_t i = 0; i < images; ++i) {
      const uint32_t record = order.record_at(i);
      ASSERT_LT(record, images);
      ++seen[record];
    }
    for (const int count : seen) ASSERT_EQ(count, 1) << images;
  }
}

TEST(EpochOrder, WithoutShuffleIsTheIdentity) {
  const EpochOrder order(1000, 1, 2, false);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(order.record_at(i), i);
}

TEST(EpochOrder, DiffersBetweenEpochsAndSeedsAndIsEqualWhenRebuilt) {
  for (const uint64_t images : {500u, 50000u}) {
    const EpochOrder a(images, 1, 0, true), again(images, 1, 0, true), epoch(images, 1, 1, true),
        seed(images, 2, 0, true);
    int same_epoch = 0, same_seed = 0;
    for (uint64_t i = 0; i < images; ++i) {
      ASSERT_EQ(a.record_at(i), again.record_at(i));
      same_epoch += a.record_at(i) == epoch.record_at(i);
      same_seed += a.record_at(i) == seed.record_at(i);
    }
    // Two random permutations share one fixed point on average.
    EXPECT_LT(same_epoch, 10);
    EXPECT_LT(same_seed, 10);
  }
}

TEST(EpochOrder, SpreadsRecordsEvenlyOverPositions) {
  // Chi-square over 16 x 16 (position bucket, record bucket) cells: 225 degrees of freedom, 99.99 %
  // quantile 311. A permutation is slightly more even than independent draws.
  for (const uint64_t images : {4000u, 40000u}) {
    std::vector<double> cells(256);
    constexpr int kEpochs = 10;
    for (uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
      const EpochOrder order(images, 9, epoch, true);
      for (uint64_t i = 0; i < images; ++i) {
        ++cells[i * 16 / images * 16 + uint64_t{order.record_at(i)} * 16 / images];
      }
    }
    const double expected = static_cast<double>(images) * kEpochs / 256;
    double chi_square = 0;
    for (const double cell : cells) chi_square += (cell - expected) * (cell - expected) / expected;
    EXPECT_LT(chi_square, 311) << images;
    EXPECT_GT(chi_square, 130) << images << ": too even to be random";
  }
}

TEST(EpochOrder, NeighbouringPositionsAreUnrelated) {
  const uint64_t images = 30000;
  const EpochOrder order(images, 4, 0, true);
  std::vector<double> cells(64);  // record step between neighbours, 64 buckets
  for (uint64_t i = 0; i + 1 < images; ++i) {
    const uint64_t step = (order.record_at(i + 1) + images - order.record_at(i)) % images;
    ++cells[step * 64 / images];
  }
  const double expected = static_cast<double>(images - 1) / 64;
  double chi_square = 0;
  for (const double cell : cells) chi_square += (cell - expected) * (cell - expected) / expected;
  EXPECT_LT(chi_square, 112);  // 63 degrees of freedom, 99.99 %
}

TEST(PartnerWindow, IsTheWholeSetBelowTheWindowSize) {
  const PartnerWindow window = partner_window(17, 511, 512);
  EXPECT_EQ(window.first, 0u);
  EXPECT_EQ(window.count, 511u);
  EXPECT_EQ(window.stride, 1u);
}

TEST(PartnerWindow, TrailsInsideItsStreamAndIsClampedAtTheStart) {
  EXPECT_EQ(partner_window(3, 512, 512).first, 3u);
  EXPECT_EQ(partner_window(3, 512, 512).count, 64u);
  EXPECT_EQ(partner_window(63 * 8 + 3, 10000, 512).first, 3u);
  EXPECT_EQ(partner_window(64 * 8 + 3, 10000, 512).first, 8u + 3);
  EXPECT_EQ(partner_window(9999, 10000, 512).at(63), 9999u);
}

TEST(PartnerWindow, HoldsThePositionAndStaysInTheEpoch) {
  for (const uint64_t images : {1u, 5u, 512u, 513u, 519u, 1000u}) {
    for (uint64_t position = 0; position < images; ++position) {
      const PartnerWindow window = partner_window(position, images, 512);
      bool own = false;
      for (uint32_t i = 0; i < window.count; ++i) {
        ASSERT_LT(window.at(i), images);
        own |= window.at(i) == position;
      }
      ASSERT_TRUE(own) << images << " " << position;
    }
  }
}

TEST(ReplacementRecord, DependsOnTheAttemptAndStaysInRange) {
  std::set<uint32_t> seen;
  for (uint32_t attempt = 0; attempt < 20; ++attempt) {
    const uint32_t record = replacement_record(1000, 1, 2, 3, attempt);
    EXPECT_LT(record, 1000u);
    EXPECT_EQ(record, replacement_record(1000, 1, 2, 3, attempt));
    seen.insert(record);
  }
  EXPECT_GT(seen.size(), 15u);
  EXPECT_EQ(replacement_record(1, 1, 2, 3, 7), 0u);
}

}  // namespace
}  // namespace yoload
