// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/buffer.h"
#include "core/image.h"
#include "core/memory_budget.h"
#include "core/philox.h"
#include "core/status.h"

namespace yoload {
namespace {

TEST(Status, NamesFileStageCodeAndCause) {
  const Status status = Status(Code::truncated, Stage::decode, "ends in row 12").with_path("a.jpg");
  EXPECT_EQ(status.to_string(), "a.jpg: decode: truncated: ends in row 12");
  EXPECT_TRUE(Status().ok());
}

TEST(Draws, MatchThePublishedPhiloxVector) {
  // Random123's kat_vectors: philox4x32-10, counter and key zero.
  Draws draws(0, 0, 0, DrawStream::shuffle);
  EXPECT_EQ(draws.u32(), 0x6627e8d5u);
  EXPECT_EQ(draws.u32(), 0xe169c58du);
  EXPECT_EQ(draws.u32(), 0xbc57ac4cu);
  EXPECT_EQ(draws.u32(), 0x9b00dbd8u);
}

TEST(Draws, StreamsPositionsEpochsAndSeedsAreIndependent) {
  std::set<uint32_t> first;
  for (const auto stream : {DrawStream::shuffle, DrawStream::hsv}) {
    for (const uint64_t position : {0ull, 1ull, 1ull << 32}) {
      for (const uint32_t epoch : {0u, 1u}) {
        for (const uint64_t seed : {0ull, 1ull, 1ull << 32}) {
          first.insert(Draws(seed, epoch, position, stream).u32());
        }
      }
    }
  }
  EXPECT_EQ(first.size(), 2u * 3 * 2 * 3);
}

TEST(Draws, BelowIsUniformAndInRange) {
  Draws draws(7, 0, 0, DrawStream::mosaic);
  std::array<int, 3> seen{};
  for (int i = 0; i < 30000; ++i) ++seen.at(draws.below(3));
  for (const int count : seen) EXPECT_NEAR(count, 10000, 400);
}

TEST(BufferPool, RecyclesBlocksOfTheSameClass) {
  const auto pool = BufferPool::create(size_t{64} << 20);
  uint8_t* first = nullptr;
  {
    Buffer buffer = pool->acquire(1'000'000);
    first = buffer.data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kBufferAlignment, 0u);
    EXPECT_EQ(pool->idle_bytes(), 0u);
  }
  EXPECT_EQ(pool->idle_bytes(), BufferPool::rounded_bytes(1'000'000));
  EXPECT_EQ(pool->acquire(999'999).data(), first);
  pool->trim(0);
  EXPECT_EQ(pool->idle_bytes(), 0u);
}

TEST(BufferPool, SlabsShareTheirBlocksAndGoBackAsAWhole) {
  const auto pool = BufferPool::create(size_t{64} << 20, true);
  constexpr size_t kBytes = 900'000;
  std::vector<Buffer> buffers;
  for (int i = 0; i < 20; ++i) {
    buffers.push_back(pool->acquire(kBytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers.back().data()) % kBufferAlignment, 0u);
    std::fill_n(buffers.back().data(), kBytes, static_cast<uint8_t>(i));
  }
  for (int i = 0; i < 20; ++i) {
    const Buffer& buffer = buffers[static_cast<size_t>(i)];
    EXPECT_EQ(std::count(buffer.data(), buffer.data() + kBytes, static_cast<uint8_t>(i)),
              static_cast<long>(kBytes));
  }
  const size_t spare = pool->idle_bytes();
  EXPECT_LT(spare, size_t{8} << 20);
  buffers.resize(19);
  pool->trim(0);
  EXPECT_LE(pool->idle_bytes(), size_t{8} << 20)
      << "what shares a slab with blocks in use has to stay";
  buffers.clear();
  EXPECT_GT(pool->idle_bytes(), 20 * kBytes);
  pool->trim(0);
  EXPECT_EQ(pool->idle_bytes(), 0u);
}

TEST(BufferPool, ReturnsSlabsBeyondTheIdleLimit) {
  const auto pool = BufferPool::create(size_t{4} << 20, true);
  std::vector<Buffer> buffers;
  for (int i = 0; i < 40; ++i) buffers.push_back(pool->acquire(1'000'000));
  buffers.clear();
  EXPECT_LE(pool->idle_bytes(), size_t{12} << 20);
}

TEST(BufferPool, RoundsUpByAtMostAnEighth) {
  for (size_t bytes = 1; bytes < 100'000'000; bytes = bytes * 3 / 2 + 1) {
    const size_t rounded = BufferPool::rounded_bytes(bytes);
    EXPECT_GE(rounded, bytes);
    EXPECT_LE(rounded, std::max<size_t>(4096, bytes + bytes / 8 + 1));
  }
}

TEST(Image, RowsArePaddedAndPlanesFollow) {
  Image image(nullptr, 17, 3, 3);
  const auto view = image.mutable_view();
  EXPECT_EQ(view.row_stride_bytes, 32u);
  EXPECT_EQ(view.plane_stride_bytes, 96u);
  view.at(2, 2, 16) = 9;
  EXPECT_EQ(image.view().at(2, 2, 16), 9);
}

TEST(MemoryBudget, RefusesWhatDoesNotFit) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.try_take(60));
  EXPECT_FALSE(budget.try_take(41));
  EXPECT_TRUE(budget.try_take(40));
  budget.give_back(100);
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_EQ(budget.peak_bytes(), 100u);
}

}  // namespace
}  // namespace yoload
