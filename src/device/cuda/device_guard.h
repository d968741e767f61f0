// Makes one GPU the calling thread's current one, and puts the former back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/check.h"

namespace yoload::device {

class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : wanted_(device) {
    check(cudaGetDevice(&former_), "ask for the current GPU");
    if (former_ != wanted_) check(cudaSetDevice(wanted_), "choose a GPU");
  }
  ~DeviceGuard() {
    if (former_ != wanted_) cudaSetDevice(former_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int wanted_;
  int former_ = 0;
};

}  // namespace yoload::device
