// The GPU's side of the engine: pictures become tiles in device memory, planned samples become a
// batch there.
//
// Note [Enqueued, not done]. Everything here puts work into streams and returns. A tile counts as
// ready once its decode is enqueued, a batch once its rendering is; who uses them next waits on the
// GPU for the point that they carry. The CPU waits for nothing but page-locked memory, of which
// only a bounded amount is in flight.
//
// cuda/cuda_lane.cpp has the implementation; without CUDA make_device_lane says why there is none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dataset_index.h"
#include "core/plan.h"
#include "core/render_target.h"
#include "core/status.h"
#include "metrics/stage_clock.h"
#include "pipeline/tile.h"
#include "pipeline/tile_path.h"
#include "yoload/loader.h"
#include "yoload/options.h"

namespace yoload {

/// A stream of the consumer: a cudaStream_t (0 is the default stream).
using StreamHandle = uintptr_t;

/// Device memory that a picture needs, set aside before anything is read.
struct TileReservation {
  virtual ~TileReservation() = default;
};

/// A picture whose CPU part is done.
struct PreparedTile {
  virtual ~PreparedTile() = default;
  uint32_t record = 0;
};

/// A planned sample and the tiles that it shows.
struct PlannedTiles {
  SamplePlan plan;
  std::vector<std::shared_ptr<const Tile>> tiles;
};

struct DeviceCounts {
  uint64_t decodes = 0;
  uint64_t by_engines = 0, by_multiprocessors = 0, by_cpu = 0;  ///< of decodes
  uint64_t refused = 0;  ///< pictures that the GPU's decoders gave back to the CPU
  uint64_t cache_bytes = 0, cache_hits = 0, cache_misses = 0;
  uint64_t memory_bytes = 0, memory_limit_bytes = 0;  ///< device memory held for tiles
};

/// Device memory for one batch. Dropped, it may be used again after what the consumer's stream has
/// been given by then.
struct DeviceAllocation {
  virtual ~DeviceAllocation() = default;
  virtual void deliver(StreamHandle consumer) = 0;
  virtual void written_until(uint64_t point) = 0;
  uint8_t* data = nullptr;
  uint64_t free_from = 0;
};

/// Thread-safe.
class DeviceLane {
 public:
  virtual ~DeviceLane() = default;

  virtual int ordinal() const = 0;
  /// To be called by every thread before it calls anything else here.
  virtual void use_on_this_thread() = 0;

  /// Is there page-locked memory to read another file into? `wake` tells when that may have
  /// changed.
  virtual bool can_stage() const = 0;
  /// Memory for a picture; null when the budget has no room now. `beyond`: go over the limit.
  virtual std::unique_ptr<TileReservation> reserve(uint32_t record, bool beyond) = 0;
  /// Share of the device budget that tiles in use occupy, 0..1.
  virtual double memory_used() const = 0;
  /// Reads the picture, looks at it and does what the CPU has to do. Errors carry the path.
  virtual Result<std::unique_ptr<PreparedTile>> prepare(
      uint32_t record, std::unique_ptr<TileReservation> reservation, WorkerState* worker) = 0;
  /// Enqueues decoding and upload of all `prepared`. A null result: that one has to be prepared
  /// again, and will then take the CPU.
  virtual std::vector<std::shared_ptr<const Tile>> submit(
      std::span<const std::unique_ptr<PreparedTile>> prepared) = 0;
  /// Would submit(), or render(), go through without waiting for the GPU?
  virtual bool can_submit() const = 0;
  virtual bool can_render() const = 0;
  /// How many pictures make a decode batch worth submitting.
  virtual int decode_batch() const = 0;

  /// Enqueues a batch. `free_from`: what the consumer's memory has to wait for. The result is the
  /// point after it.
  virtual uint64_t render(std::span<const PlannedTiles> samples, const RenderTarget& target,
                          uint64_t free_from) = 0;
  /// The point after what `stream` has been given so far.
  virtual uint64_t mark(StreamHandle stream) = 0;
  /// Work put into `stream` from now on runs after `point`.
  virtual void hand_over(uint64_t point, StreamHandle stream) = 0;
  virtual bool passed(uint64_t point) = 0;
  /// The CPU waits until everything enqueued is done: at the end, or to copy a batch out.
  virtual void drain() = 0;

  /// Device memory of the engine's own, for consumers that offer none.
  virtual std::shared_ptr<DeviceAllocation> allocate(size_t bytes) = 0;
  virtual void copy_to_host(const void* from, void* to, size_t bytes) = 0;

  /// GPU time by kind of work, for the report.
  virtual std::vector<StageReport> stages() = 0;
  virtual DeviceCounts counts() const = 0;
};

/// `batch_memory_bytes` is what all batches on their way take. `wake` is called, from any thread,
/// when page-locked memory may have become free. Throws Error.
std::unique_ptr<DeviceLane> make_device_lane(const LoaderOptions& options,
                                             const DatasetIndex& index, const TilePath& tiles,
                                             uint64_t batch_memory_bytes,
                                             std::function<void()> wake);

}  // namespace yoload
