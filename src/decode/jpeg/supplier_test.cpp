// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/supplier.h"

#include <gtest/gtest.h>

#include <array>

#include "decode/test_pictures.h"

namespace yoload::decode {
namespace {

using namespace test;

constexpr SupplierSupport kAll{.engines = true, .multiprocessors = true};
constexpr SupplierSupport kNoEngines{.engines = false, .multiprocessors = true};

Supplier of(const Bytes& file, const SupplierSupport& support = kAll) {
  return supplier_of(scan_jpeg(file), 0, {}, support);
}

TEST(Supplier, IsTheEnginesForOrdinaryBaselineFiles) {
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
    const Bytes file = jpeg(card(40, 30), {.h_sampling = h, .v_sampling = v});
    EXPECT_EQ(of(file), Supplier::engines);
    EXPECT_EQ(of(file, kNoEngines), Supplier::multiprocessors);
    EXPECT_EQ(of(file, {}), Supplier::cpu);
  }
  EXPECT_EQ(of(jpeg(card(40, 30), {.gray = true})), Supplier::engines);
}

TEST(Supplier, IsTheMultiprocessorsForProgressiveFiles) {
  EXPECT_EQ(of(jpeg(card(40, 30), {.progressive = true})), Supplier::multiprocessors);
}

TEST(Supplier, IsTheCpuForProgressiveFilesWithRestartMarkers) {
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {2, 2}}) {
    JpegKind kind{.h_sampling = h, .v_sampling = v, .restart_interval_mcus = 3};
    EXPECT_EQ(of(jpeg(card(40, 30), kind)), Supplier::engines);
    kind.progressive = true;
    EXPECT_EQ(of(jpeg(card(40, 30), kind)), Supplier::cpu);
    EXPECT_EQ(of(jpeg(card(40, 30), kind), kNoEngines), Supplier::cpu);
  }
}

TEST(Supplier, IsTheCpuForWhatTheGpuDecodesDifferentlyOrNotAtAll) {
  EXPECT_EQ(of(jpeg(card(40, 30), {.h_sampling = 4})), Supplier::cpu);
  EXPECT_EQ(of(jpeg(card(4, 30), {.h_sampling = 2})), Supplier::cpu) << "narrow chroma";
  EXPECT_EQ(of(png(card(4, 4))), Supplier::cpu);
  Bytes cut = jpeg(card(40, 30));
  cut.resize(cut.size() - 2);
  EXPECT_EQ(of(cut), Supplier::cpu);
  Bytes rgb =
      with_jpeg_segment(jpeg(card(40, 30)), 0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0});
  EXPECT_EQ(of(rgb), Supplier::cpu) << "JFIF and Adobe contradict each other";
}

TEST(Supplier, SharesAreKeptAndDependOnTheRecordAlone) {
  const JpegFacts facts = scan_jpeg(jpeg(card(40, 30)));
  const SupplierShares shares{.cpu_permille = 150, .multiprocessors_permille = 100};
  std::array<int, 3> counts{};
  constexpr int kRecords = 20000;
  for (uint32_t record = 0; record < kRecords; ++record) {
    const Supplier supplier = supplier_of(facts, record, shares, kAll);
    EXPECT_EQ(supplier_of(facts, record, shares, kAll), supplier);
    ++counts[static_cast<size_t>(supplier)];
  }
  EXPECT_NEAR(counts[0], 0.75 * kRecords, 0.01 * kRecords);
  EXPECT_NEAR(counts[1], 0.10 * kRecords, 0.01 * kRecords);
  EXPECT_NEAR(counts[2], 0.15 * kRecords, 0.01 * kRecords);
}

}  // namespace
}  // namespace yoload::decode
