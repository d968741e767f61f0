// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/cuda/memory.h"
#include "device/cuda/stream.h"
#include "device/gpu_use.h"

namespace yoload {
namespace {

TEST(Device, IsFoundAndNamed) {
  const auto facts = find_device(0);
  ASSERT_TRUE(facts.ok()) << facts.status().to_string();
  EXPECT_FALSE(facts->name.empty());
  EXPECT_GE(facts->compute_major, 7);
  EXPECT_GT(facts->memory_bytes, uint64_t{1} << 30);
}

TEST(Device, SaysHowBusyItIs) {
  const auto api = nvml::open();
  ASSERT_TRUE(api.ok()) << api.status().to_string();
  auto meter = GpuUseMeter::start(*api, find_device(0)->pci_bus_id, std::chrono::milliseconds(10));
  if (!meter.ok()) GTEST_SKIP() << meter.status().to_string();  // a slice of a divided GPU
  const GpuUse use = (*meter)->stop();
  EXPECT_GE(use.samples, 1u);
  EXPECT_GE(use.busy, 0);
  EXPECT_LE(use.busy, 1);
}

TEST(Device, ThatIsNotThereIsNamed) {
  const auto facts = find_device(99);
  ASSERT_FALSE(facts.ok());
  EXPECT_NE(facts.status().message().find("99"), std::string::npos);
}

TEST(Device, CopiesThroughAStreamInOrder) {
  device::Stream first, second;
  device::PinnedBlock from(1 << 20), to(1 << 20);
  const device::DeviceBlock block(1 << 20);
  for (size_t i = 0; i < from.size(); ++i) from.data()[i] = static_cast<uint8_t>(i * 7 + i / 255);
  device::check(
      cudaMemcpyAsync(block.data(), from.data(), from.size(), cudaMemcpyHostToDevice, first.get()),
      "copy");
  device::Event copied;
  copied.record(first.get());
  second.wait(copied);
  device::check(
      cudaMemcpyAsync(to.data(), block.data(), to.size(), cudaMemcpyDeviceToHost, second.get()),
      "copy back");
  const uint64_t waits = device::call_counts().synchronisations;
  second.synchronise();
  EXPECT_EQ(device::call_counts().synchronisations, waits + 1);
  EXPECT_TRUE(std::equal(from.data(), from.data() + from.size(), to.data()));
}

}  // namespace
}  // namespace yoload
