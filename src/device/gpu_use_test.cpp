// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_use.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

namespace yoload {
namespace {

// A library of functions without state of their own: what they answer lies here.
struct Fake {
  std::atomic<int> open{0};
  std::atomic<unsigned> asked{0};
  int answer = 0;  // of the question how busy it is
} fake;

nvml::Api fake_api() {
  fake.open = 0, fake.asked = 0, fake.answer = 0;
  nvml::Api api;
  api.Init_v2 = [] { return ++fake.open, 0; };
  api.Shutdown = [] { return --fake.open, 0; };
  api.DeviceGetHandleByPciBusId_v2 = [](const char* bus_id, nvml::Device*) {
    return std::strcmp(bus_id, "0000:18:00.0") == 0 ? 0 : 6;
  };
  api.DeviceGetUtilizationRates = [](nvml::Device, nvml::Utilisation* use) {
    use->gpu_percent = fake.asked++ % 2 == 0 ? 40 : 60;
    use->memory_percent = 1;
    return fake.answer;
  };
  api.DeviceGetJpgUtilization = [](nvml::Device, unsigned* percent, unsigned* period_us) {
    *percent = 90, *period_us = 1000;
    return 0;
  };
  return api;
}

TEST(GpuUse, IsTheMeanOfTheSamples) {
  const nvml::Api api = fake_api();
  {
    auto meter = GpuUseMeter::start(api, "0000:18:00.0", std::chrono::milliseconds(1));
    ASSERT_TRUE(meter.ok()) << meter.status().to_string();
    while (fake.asked < 5) std::this_thread::yield();
    (*meter)->forget();
    while (fake.asked < 25 + 5) std::this_thread::yield();
    const GpuUse use = (*meter)->stop();
    EXPECT_GE(use.samples, 20u);
    EXPECT_LT(use.samples, fake.asked - 3);
    EXPECT_NEAR(use.busy, 0.5, 0.01);
    EXPECT_DOUBLE_EQ(use.jpeg_engines_busy, 0.9);
    EXPECT_EQ((*meter)->stop().samples, use.samples) << "a second stop changes nothing";
  }
  EXPECT_EQ(fake.open, 0);
}

TEST(GpuUse, HasASampleHoweverShortTheSpan) {
  nvml::Api api = fake_api();
  api.DeviceGetJpgUtilization = nullptr;  // an older driver
  auto meter = GpuUseMeter::start(api, "0000:18:00.0", std::chrono::hours(1));
  ASSERT_TRUE(meter.ok());
  const GpuUse use = (*meter)->stop();
  EXPECT_EQ(use.samples, 1u);
  EXPECT_EQ(use.jpeg_engines_busy, -1);
}

TEST(GpuUse, SaysWhyThereIsNone) {
  EXPECT_EQ(nvml::open("libno-such-thing.so.1").status().code(), Code::not_found);
  EXPECT_EQ(nvml::open("libc.so.6").status().code(), Code::unsupported);
  const nvml::Api api = fake_api();
  EXPECT_FALSE(GpuUseMeter::start(api, "0000:99:00.0").ok());
  fake.answer = 3;  // not supported: a slice of a GPU
  EXPECT_FALSE(GpuUseMeter::start(api, "0000:18:00.0").ok());
  EXPECT_EQ(fake.open, 0);
}

}  // namespace
}  // namespace yoload
