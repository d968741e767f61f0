// SPDX-License-Identifier: Apache-2.0
#include "core/image.h"

namespace yoload {
namespace {

size_t plane_bytes(int width_px, int height_px, int channels) {
  return (static_cast<size_t>(width_px) + 15) / 16 * 16 * static_cast<size_t>(height_px) *
         static_cast<size_t>(channels);
}

}  // namespace

Image::Image(BufferPool* pool, int width_px, int height_px, int channels)
    : width_px_(width_px), height_px_(height_px), channels_(channels) {
  const size_t bytes = plane_bytes(width_px, height_px, channels);
  buffer_ = pool != nullptr ? pool->acquire(bytes) : Buffer::allocate(bytes);
}

size_t Image::bytes_for(int width_px, int height_px, int channels) {
  return BufferPool::rounded_bytes(plane_bytes(width_px, height_px, channels));
}

}  // namespace yoload
