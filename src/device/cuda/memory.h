// Blocks of device memory and of page-locked host memory. Allocating either stops the GPU, so both
// are for start-up and for pools that grow rarely.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "device/cuda/call_counts.h"
#include "device/cuda/check.h"

namespace yoload::device {

/// Device memory, 256-byte aligned. Move-only.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  explicit DeviceBlock(size_t bytes) : bytes_(bytes) {
    call_counts().device_allocations.fetch_add(1, std::memory_order_relaxed);
    check(cudaMalloc(&data_, bytes), "allocate device memory");
  }
  ~DeviceBlock() {
    if (data_ != nullptr) cudaFree(data_);
  }
  DeviceBlock(DeviceBlock&& other) noexcept { swap(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t size() const { return bytes_; }

 private:
  void swap(DeviceBlock& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Page-locked host memory: copies from it run at full speed and beside kernels. Move-only.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  explicit PinnedBlock(size_t bytes) : bytes_(bytes) {
    call_counts().pinned_allocations.fetch_add(1, std::memory_order_relaxed);
    check(cudaHostAlloc(&data_, bytes, cudaHostAllocPortable), "allocate page-locked memory");
  }
  ~PinnedBlock() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  PinnedBlock(PinnedBlock&& other) noexcept { swap(other); }
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }
  size_t size() const { return bytes_; }

 private:
  void swap(PinnedBlock& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace yoload::device
