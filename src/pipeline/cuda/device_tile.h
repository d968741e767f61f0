// What the GPU lane keeps in device and page-locked memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "decode/jpeg/marker_scan.h"
#include "decode/jpeg/supplier.h"
#include "device/cuda/work_pool.h"
#include "pipeline/device_lane.h"

namespace yoload {

/// Planar pixels in device memory, laid out as Image does it.
struct DeviceTile : Tile {
  /// The GPU reads it until the last rendering that used it, which is noted here.
  mutable device::DevicePool::Block memory;
  device::Ticket decoded = 0;  ///< the pixels are there after this point
};

/// A file, or pixels laid out as a tile, in page-locked memory.
struct StagedFile {
  device::PinnedPool::Block memory;
  size_t bytes = 0;
  std::span<const uint8_t> view() const { return {memory.data(), bytes}; }
};

struct CudaReservation : TileReservation {
  device::DevicePool::Block tile;
  device::DevicePool::Block stored;  ///< for the picture as stored, where it has to be resized
};

/// A picture on its way to the GPU, by one of three ways.
struct CudaPrepared : PreparedTile {
  std::shared_ptr<const Tile> resident;  ///< it is there already

  std::shared_ptr<StagedFile> pixels;  ///< decoded by the CPU

  /// To be decoded on the GPU: by the engines when it is submitted; the multiprocessors have begun
  /// already, and are done at `begun`.
  std::shared_ptr<StagedFile> file;
  device::Ticket begun = 0;
  decode::JpegFacts facts;
  decode::Supplier supplier = decode::Supplier::cpu;

  std::shared_ptr<DeviceTile> tile;
  device::DevicePool::Block stored;
};

inline MutableImageView planar_view(uint8_t* data, int width_px, int height_px, int channels) {
  const size_t row = (static_cast<size_t>(width_px) + 15) / 16 * 16;
  return {data, width_px, height_px, channels, row, row * static_cast<size_t>(height_px)};
}
inline size_t planar_bytes(const MutableImageView& view) {
  return view.plane_stride_bytes * static_cast<size_t>(view.channels);
}
inline ImageView read_only(const MutableImageView& view) {
  return {view.data,     view.width_px,         view.height_px,
          view.channels, view.row_stride_bytes, view.plane_stride_bytes};
}

}  // namespace yoload
