// How busy a GPU is, from NVIDIA's management library (NVML), which comes with the driver.
//
// The library is opened at run time; where it is missing there is a status instead. Gives: means
// over a span of time, of the whole GPU, whoever uses it. Does not give: whose work it was (for
// ours: the report's device stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/status.h"

namespace yoload {

namespace nvml {

using Device = struct OpaqueDevice*;
struct Utilisation {
  unsigned gpu_percent, memory_percent;
};

/// The part of NVML's binary interface that is used, as function pointers; 0 is success.
struct Api {
  int (*Init_v2)() = nullptr;
  int (*Shutdown)() = nullptr;
  int (*DeviceGetHandleByPciBusId_v2)(const char* bus_id, Device*) = nullptr;
  int (*DeviceGetUtilizationRates)(Device, Utilisation*) = nullptr;
  /// Not in older drivers: may be null.
  int (*DeviceGetJpgUtilization)(Device, unsigned* percent, unsigned* period_us) = nullptr;
};

/// `not_found` without the library, `unsupported` where it lacks a function.
Result<Api> open(const std::string& library = "libnvidia-ml.so.1");

}  // namespace nvml

struct GpuUse {
  double busy = 0;                ///< share of the time in which a kernel ran; 1 is always
  double jpeg_engines_busy = -1;  ///< the same for the JPEG engines; -1: the driver does not say
  uint64_t samples = 0;
};

/// Samples in a thread of its own from start() to stop().
class GpuUseMeter {
 public:
  /// NVML's own figures are means over its last 1/6 to 1 s, so more samples would say no more.
  static constexpr std::chrono::milliseconds kInterval{100};

  /// `pci_bus_id` as DeviceFacts has it. An error where the GPU is not found or does not say how
  /// busy it is (a slice of a divided GPU).
  static Result<std::unique_ptr<GpuUseMeter>> start(const nvml::Api& api,
                                                    const std::string& pci_bus_id,
                                                    std::chrono::milliseconds interval = kInterval);
  ~GpuUseMeter();

  /// Begins anew.
  void forget();
  /// Means since start() or forget(); takes a last sample, so there is at least one.
  GpuUse stop();

 private:
  GpuUseMeter(const nvml::Api& api, nvml::Device device, std::chrono::milliseconds interval);
  void run();
  void sample();

  const nvml::Api api_;
  const nvml::Device device_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  uint64_t samples_ = 0, jpeg_samples_ = 0;
  double busy_percent_ = 0, jpeg_percent_ = 0;  // sums
  std::thread thread_;
};

}  // namespace yoload
