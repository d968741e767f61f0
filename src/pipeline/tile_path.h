// The way of one picture: record -> bytes -> pixels -> tile at training size.
//
// This file and sample_path.h show the whole data path: load() reads, decodes and resizes;
// SamplePath::render() draws, lays out and runs the plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "augment/resize.h"
#include "augment/run.h"
#include "cache/static_cache.h"
#include "core/dataset_index.h"
#include "core/image.h"
#include "decode/decoder.h"
#include "metrics/stage_clock.h"
#include "pipeline/memory_keeper.h"
#include "pipeline/tile.h"
#include "yoload/options.h"

namespace yoload {

/// What a thread owns: decoder and scratch are reused, never shared.
struct WorkerState {
  WorkerState(const LoaderOptions& options, int channels, const std::atomic<bool>* cancelled,
              ThreadClocks* thread_clocks);
  Decoder decoder;
  RenderScratch scratch;
  ThreadClocks* clocks;
};

/// A tile that is wanted. `lease` holds TilePath::working_bytes and shrinks to what the tile
/// occupies.
struct TileRequest {
  uint32_t record = 0;
  BudgetLease lease;
};

/// Thread-safe.
class TilePath {
 public:
  using LoadedTile = Result<std::shared_ptr<const Tile>>;

  TilePath(const LoaderOptions& options, const DatasetIndex& index, MemoryKeeper* memory);

  /// Budget bytes to hold while load(record) runs.
  uint64_t working_bytes(uint32_t record) const;
  /// Errors carry the path.
  LoadedTile load(TileRequest request, WorkerState* worker);
  /// The same for several, which costs less time than one after the other. `done` is called once
  /// for each, by its number in `requests`, as soon as it is there; it must not load with this
  /// worker.
  void load_many(std::vector<TileRequest> requests, WorkerState* worker,
                 const std::function<void(size_t, LoadedTile)>& done);

  /// The same from the file's bytes, without the caches and the budget: the picture upright, at
  /// training size.
  Result<Image> picture(uint32_t record, std::span<const uint8_t> bytes, WorkerState* worker) const;
  /// Size of a record's tile, where it is a plain resize of the stored picture.
  void tile_size(uint32_t record, int* width_px, int* height_px) const;

  uint64_t decodes() const { return decodes_.load(std::memory_order_relaxed); }
  /// Of them by our own JPEG decoder.
  uint64_t own_jpeg_decodes() const { return own_jpeg_decodes_.load(std::memory_order_relaxed); }
  uint64_t cache_bytes() const;
  uint64_t cache_hits() const { return cache_hits_.load(std::memory_order_relaxed); }
  uint64_t cache_misses() const { return cache_misses_.load(std::memory_order_relaxed); }

 private:
  Result<std::shared_ptr<const Buffer>> read(uint32_t record, WorkerState* worker);
  Result<Buffer> bytes_of_record(uint32_t record) const;
  struct Encoded {
    uint32_t record = 0;
    std::span<const uint8_t> bytes;
  };
  void pictures(std::span<const Encoded> files, WorkerState* worker,
                const std::function<void(size_t, Result<Image>)>& done) const;
  Result<Image> at_training_size(uint32_t record, Decoded decoded, WorkerState* worker) const;
  Image resize(Image image, int width_px, int height_px, WorkerState* worker) const;
  int min_long_side_px() const;

  const LoaderOptions& options_;
  const DatasetIndex& index_;
  MemoryKeeper* memory_;
  StaticCache<Buffer> byte_cache_;
  StaticCache<Tile> pixel_cache_;
  mutable std::atomic<uint64_t> decodes_{0}, own_jpeg_decodes_{0};
  std::atomic<uint64_t> cache_hits_{0}, cache_misses_{0};
};

}  // namespace yoload
