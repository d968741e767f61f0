// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_use.h"

#include <dlfcn.h>

namespace yoload {
namespace nvml {

Result<Api> open(const std::string& library) {
  // Never closed: a driver's library that leaves a process takes its threads by surprise.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return Status(Code::not_found, Stage::transfer, why != nullptr ? why : library);
  }
  Api api;
  std::string lacking;
  const auto bind = [&](const char* name, auto* function, bool needed) {
    const std::string symbol = std::string("nvml") + name;
    *function =
        reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle, symbol.c_str()));
    if (*function == nullptr && needed && lacking.empty()) lacking = symbol;
  };
  bind("Init_v2", &api.Init_v2, true);
  bind("Shutdown", &api.Shutdown, true);
  bind("DeviceGetHandleByPciBusId_v2", &api.DeviceGetHandleByPciBusId_v2, true);
  bind("DeviceGetUtilizationRates", &api.DeviceGetUtilizationRates, true);
  bind("DeviceGetJpgUtilization", &api.DeviceGetJpgUtilization, false);
  if (!lacking.empty()) {
    return Status(Code::unsupported, Stage::transfer, library + " lacks " + lacking);
  }
  return api;
}

}  // namespace nvml

Result<std::unique_ptr<GpuUseMeter>> GpuUseMeter::start(const nvml::Api& api,
                                                        const std::string& pci_bus_id,
                                                        std::chrono::milliseconds interval) {
  const auto failure = [](const char* what, int code) {
    return Status(Code::unsupported, Stage::transfer,
                  std::string("NVML: ") + what + ": code " + std::to_string(code));
  };
  if (const int code = api.Init_v2(); code != 0) return failure("start", code);
  nvml::Device device = nullptr;
  nvml::Utilisation now{};
  int code = api.DeviceGetHandleByPciBusId_v2(pci_bus_id.c_str(), &device);
  const bool found = code == 0;
  if (found) code = api.DeviceGetUtilizationRates(device, &now);
  if (code != 0) {
    api.Shutdown();
    return failure(found ? "ask how busy the GPU is" : "find the GPU", code);
  }
  return std::unique_ptr<GpuUseMeter>(new GpuUseMeter(api, device, interval));
}

GpuUseMeter::GpuUseMeter(const nvml::Api& api, nvml::Device device,
                         std::chrono::milliseconds interval)
    : api_(api), device_(device), interval_(interval), thread_([this] { run(); }) {}

GpuUseMeter::~GpuUseMeter() {
  stop();
  api_.Shutdown();
}

void GpuUseMeter::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, interval_, [this] { return stopped_; })) sample();
}

// With the lock held. A figure that cannot be had now is left out of the mean.
void GpuUseMeter::sample() {
  nvml::Utilisation use{};
  if (api_.DeviceGetUtilizationRates(device_, &use) == 0) {
    busy_percent_ += use.gpu_percent;
    ++samples_;
  }
  unsigned percent = 0, period_us = 0;
  if (api_.DeviceGetJpgUtilization != nullptr &&
      api_.DeviceGetJpgUtilization(device_, &percent, &period_us) == 0) {
    jpeg_percent_ += percent;
    ++jpeg_samples_;
  }
}

void GpuUseMeter::forget() {
  std::lock_guard lock(mutex_);
  samples_ = jpeg_samples_ = 0;
  busy_percent_ = jpeg_percent_ = 0;
}

GpuUse GpuUseMeter::stop() {
  {
    std::lock_guard lock(mutex_);
    if (!stopped_) sample();
    stopped_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
  GpuUse use;
  use.samples = samples_;
  if (samples_ > 0) use.busy = busy_percent_ / 100 / static_cast<double>(samples_);
  if (jpeg_samples_ > 0) {
    use.jpeg_engines_busy = jpeg_percent_ / 100 / static_cast<double>(jpeg_samples_);
  }
  return use;
}

}  // namespace yoload
