// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

#include "augment/cuda/resize_cuda.h"
#include "augment/cuda/run_cuda.h"
#include "cache/static_cache.h"
#include "decode/cuda/jpeg_engines.h"
#include "decode/cuda/jpeg_multiprocessors.h"
#include "decode/jpeg/supplier.h"
#include "device/cuda/gpu_clock.h"
#include "device/cuda/stream.h"
#include "device/cuda/timeline.h"
#include "pipeline/cuda/device_tile.h"
#include "pipeline/device_lane.h"

namespace yoload {

/// Note [Call-backs]. The driver calls back when the GPU has passed a point. Allocating memory
/// waits for such calls, so they must not wait for a lock that is held around an allocation: they
/// only put down what has passed, in a queue of their own, and a thread of ours gives page-locked
/// memory back and wakes the workers.

/// DeviceLane on CUDA. Two streams for decoding, taken in turns so that one batch is fed to the
/// engines while the other is being decoded, one for uploads, one for rendering.
class CudaLane final : public DeviceLane {
 public:
  CudaLane(const LoaderOptions& options, const DatasetIndex& index, const TilePath& tiles,
           uint64_t batch_memory_bytes, std::function<void()> wake);
  ~CudaLane() override;

  int ordinal() const override { return ordinal_; }
  void use_on_this_thread() override;
  bool can_stage() const override;
  std::unique_ptr<TileReservation> reserve(uint32_t record, bool beyond) override;
  double memory_used() const override;
  Result<std::unique_ptr<PreparedTile>> prepare(uint32_t record,
                                                std::unique_ptr<TileReservation> reservation,
                                                WorkerState* worker) override;
  std::vector<std::shared_ptr<const Tile>> submit(
      std::span<const std::unique_ptr<PreparedTile>> prepared) override;
  int decode_batch() const override { return decode_batch_; }
  bool can_submit() const override;
  bool can_render() const override;

  uint64_t render(std::span<const PlannedTiles> samples, const RenderTarget& target,
                  uint64_t free_from) override;
  uint64_t mark(StreamHandle stream) override;
  void hand_over(uint64_t point, StreamHandle stream) override;
  bool passed(uint64_t point) override { return timeline_->passed(point); }
  void drain() override;

  std::shared_ptr<DeviceAllocation> allocate(size_t bytes) override;
  void copy_to_host(const void* from, void* to, size_t bytes) override;

  std::vector<StageReport> stages() override;
  DeviceCounts counts() const override;

 private:
  // Batches that the engines have at a time, and renderings that wait for the GPU.
  static constexpr size_t kDecodesUnderWay = 2, kBatchesUnderWay = 8;
  enum class Clock { engines, multiprocessors, resize, upload, render, count_ };

  struct CallBacks;
  struct CallBack {
    CallBacks* to;
    std::vector<std::shared_ptr<StagedFile>> staged;
  };
  struct CallBacks {
    std::mutex mutex;
    std::condition_variable some;
    std::deque<std::unique_ptr<CallBack>> waiting;
    bool end = false;

    static void take(void* call_back);
  };

  Result<std::shared_ptr<StagedFile>> read(uint32_t record, WorkerState* worker);
  Result<std::shared_ptr<StagedFile>> read_into(const std::shared_ptr<device::PinnedPool>& pool,
                                                uint32_t record, bool beyond);
  decode::Supplier route(uint32_t record, const decode::JpegFacts& facts) const;
  Status verify(uint32_t record, std::span<const uint8_t> bytes, WorkerState* worker);
  Status decode_on_cpu(std::span<const uint8_t> bytes, CudaPrepared* prepared, WorkerState* worker);
  bool begin_on_multiprocessors(CudaPrepared* prepared);
  void finish_on_multiprocessors(std::span<CudaPrepared* const> group);
  void decode_on_engines(std::span<CudaPrepared* const> group);
  void resize(std::span<CudaPrepared* const> group, cudaStream_t stream);
  void upload(std::span<CudaPrepared* const> group);
  decode::DeviceJpegJob job_of(const CudaPrepared& prepared) const;
  cudaStream_t next_decode_stream() { return decode_[turn_++ % decode_.size()].get(); }
  void refuse(uint32_t record);
  void answer_call_backs();
  static CudaRenderLimits render_limits();
  void place(CudaPrepared* prepared, CudaReservation* reserved) const;
  void settle(std::span<CudaPrepared* const> group, device::Ticket ticket);
  void release_after(device::Ticket ticket, std::vector<std::shared_ptr<StagedFile>> staged);
  bool refused(uint32_t record) const;

  const LoaderOptions& options_;
  const DatasetIndex& index_;
  const TilePath& tiles_;
  const std::function<void()> wake_;
  const int ordinal_;
  const int decode_batch_;
  const decode::SupplierShares shares_;

  const std::shared_ptr<device::Timeline> timeline_ = std::make_shared<device::Timeline>();
  std::array<device::Stream, 2> decode_;
  device::Stream upload_, render_, wake_stream_;
  std::array<device::GpuClock, static_cast<size_t>(Clock::count_)> clocks_;
  std::shared_ptr<device::DevicePool> memory_;   ///< tiles and pictures as stored
  std::shared_ptr<device::DevicePool> batches_;  ///< for consumers that offer no memory
  std::shared_ptr<device::PinnedPool> staging_;  ///< files and pixels on their way
  std::shared_ptr<device::PinnedPool> kept_;     ///< cache=bytes
  StaticCache<StagedFile> file_cache_;
  StaticCache<Tile> tile_cache_;

  std::mutex submitting_;
  size_t turn_ = 0;
  std::unique_ptr<decode::JpegEngines> engines_;  ///< null where there are none
  std::array<std::atomic<device::Ticket>, kDecodesUnderWay> engine_batches_{};  ///< the last ones
  std::atomic<size_t> next_batch_{0};
  CudaResizer resizer_;

  /// nvJPEG on the multiprocessors: one worker a thread, each with a stream.
  struct Multiprocessors {
    std::unique_ptr<decode::JpegMultiprocessors> decoder;
    std::vector<device::Stream> streams;
    std::vector<int> idle;
    std::mutex mutex;
  };
  Multiprocessors multiprocessors_;  ///< decoder is null without nvJPEG

  std::mutex rendering_;
  std::array<std::atomic<device::Ticket>, kBatchesUnderWay> rendered_{};  ///< the last ones
  std::atomic<size_t> next_render_{0};
  CudaRenderer renderer_;

  mutable std::mutex refused_mutex_;
  std::unordered_set<uint32_t> refused_;        ///< by the GPU's decoders: these take the CPU
  std::vector<std::atomic<uint8_t>> verified_;  ///< by record, with validate=decode
  std::atomic<uint64_t> by_engines_{0}, by_multiprocessors_{0}, by_cpu_{0};
  std::atomic<uint64_t> cache_hits_{0}, cache_misses_{0};

  CallBacks called_back_;
  std::thread waker_;
};

}  // namespace yoload
