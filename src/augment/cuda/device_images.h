// Pictures of tests and benchmarks copied to the GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.h"
#include "device/cuda/check.h"
#include "device/cuda/memory.h"

namespace yoload {

/// One block of device memory with pictures in it, strides as in Image.
class DeviceImages {
 public:
  explicit DeviceImages(std::span<const ImageView> views) {
    size_t bytes = 0;
    for (const ImageView& view : views) bytes += room(view);
    block_ = device::DeviceBlock(bytes);
    uint8_t* at = block_.data();
    for (ImageView view : views) {
      device::check(cudaMemcpy(at, view.data, size(view), cudaMemcpyHostToDevice), "upload");
      const uint8_t* data = at;
      at += room(view);
      view.data = data;
      views_.push_back(view);
    }
  }
  std::span<const ImageView> views() const { return views_; }

 private:
  static size_t size(const ImageView& view) {
    return view.plane_stride_bytes * static_cast<size_t>(view.channels);
  }
  static size_t room(const ImageView& view) { return (size(view) + 255) / 256 * 256; }

  device::DeviceBlock block_;
  std::vector<ImageView> views_;
};

}  // namespace yoload
