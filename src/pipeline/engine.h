// The engine: threads that decode pictures and render samples into batches, in any order inside a
// window of batches, handed out in order.
//
// Note [Scheduling]. There are two kinds of task. A decode task makes the pool entry of one
// position; a sample task renders one sample and becomes runnable when the entries it needs are
// ready. A thread takes a runnable sample first (it frees memory), then a decode, and only when
// there is neither admits the next sample of the window, which may create decodes. So no thread
// ever waits for another inside a task, at most a handful of samples hold pictures, and the oldest
// batch always makes progress.
//
// Note [Admission]. A decode starts when the budget grants its working memory, after evicting
// pictures nobody holds. If it grants nothing and no task is running that could give memory back,
// the decode starts all the same: the oldest batch cannot be starved by the limit.
//
// Note [Decode ahead]. The first samples of an epoch draw on a whole window of pictures that nobody
// has decoded yet. Threads that have nothing else to do, because all batches of the window are
// ready, decode the coming positions (into the next epoch too), as long as that leaves a third of
// the budget free. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/labels.h"
#include "metrics/stage_clock.h"
#include "pipeline/batch_memory.h"
#include "pipeline/epoch.h"
#include "pipeline/ledger.h"
#include "pipeline/memory_keeper.h"
#include "pipeline/sample_path.h"
#include "pipeline/tile_path.h"
#include "pipeline/tile_pool.h"

namespace yoload {

/// A batch being filled.
struct BatchSlot {
  std::shared_ptr<const Epoch> epoch;
  uint64_t index = 0;
  BatchShape shape;
  Batch batch;  ///< img and samples are in place from the start
  std::shared_ptr<BatchMemory::Block> memory;
  std::vector<SampleLabels> labels;  ///< one a sample
  int admitted = 0;
  int unfinished = 0;
  uint64_t first_sample = 0;  ///< of the rank, in the epoch
};

/// One sample on its way.
struct SampleTask {
  std::shared_ptr<BatchSlot> slot;
  int index = 0;  ///< in the batch
  SampleDraws draws;
  std::vector<std::shared_ptr<PoolEntry>> entries;
  int missing = 0;  ///< entries not ready yet
};

/// Counters that only the engine's mutex guards.
struct EngineCounts {
  uint64_t images = 0, batches = 0, replaced = 0;
  uint64_t ready_batches_sum = 0;  ///< batches that lay ready at each request
  int64_t consumer_wait_ns = 0, consumer_busy_ns = 0;
  DropCounts dropped;
};

/// One consumer; set_epoch, next and stop may be called from it or, for stop, from any thread.
class Engine {
 public:
  Engine(const LoaderOptions& options, const DatasetIndex& index);
  ~Engine();

  void set_epoch(uint32_t epoch, uint64_t first_batch);
  /// The next finished batch with its labels; null at the end of an epoch. Waits at most
  /// `timeout_ms` (for ever if negative): then null, and *ready false.
  std::shared_ptr<BatchSlot> next(int timeout_ms, bool* ready);
  /// With LoaderOptions::offered_memory: a buffer for a coming batch.
  void offer(void* memory, size_t bytes, uint64_t token);
  size_t largest_batch_bytes() const { return largest_batch_bytes_; }
  int prefetch() const { return prefetch_; }
  void stop();

  std::shared_ptr<const Epoch> epoch(uint32_t number) const;
  const SamplePath& samples() const { return samples_; }
  const TilePath& tiles() const { return tiles_; }
  const MemoryKeeper& memory() const { return memory_; }
  const Ledger& ledger() const { return ledger_; }
  const Clocks& clocks() const { return clocks_; }
  EngineCounts counts() const;
  uint64_t evictions() const;
  int threads() const { return static_cast<int>(threads_.size()); }
  double wall_s() const;

  /// Renders one sample outside of the stream, on the calling thread.
  std::shared_ptr<BatchSlot> render_alone(uint32_t epoch, uint64_t position);
  PlannedSample plan_alone(uint32_t epoch, uint64_t position);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Resolved {
    uint32_t record = 0;
    std::shared_ptr<const Tile> tile;
  };

  void work();
  /// One task, or one admission; false when there is nothing to do now.
  bool work_once(Lock& lock, WorkerState* worker);
  bool start_decode(Lock& lock, WorkerState* worker);
  void render(Lock& lock, WorkerState* worker);
  bool admit_sample();
  bool open_slot();
  bool decode_ahead();
  bool epoch_planned(uint32_t number) const;
  /// Null when there is no memory for it on offer.
  std::shared_ptr<BatchSlot> make_slot(std::shared_ptr<const Epoch> epoch, uint64_t batch,
                                       BatchMemory* memory);
  Result<Resolved> resolve(const Epoch& epoch, uint64_t position, BudgetLease lease,
                           WorkerState* worker);
  void fail(Status status);
  bool take_memory(uint64_t bytes);

  const LoaderOptions& options_;
  const DatasetIndex& index_;
  MemoryKeeper memory_;
  size_t largest_batch_bytes_ = 0;
  std::unique_ptr<BatchMemory> batch_memory_;
  TilePath tiles_;
  SamplePath samples_;
  Ledger ledger_;
  Clocks clocks_;
  std::shared_ptr<const RectBatches> rect_;
  int prefetch_ = 1;

  mutable std::mutex mutex_;
  std::condition_variable work_ready_;
  std::condition_variable batch_ready_;
  TilePool pool_;
  std::deque<std::shared_ptr<PoolEntry>> decodes_;  ///< in order of first need
  std::deque<std::shared_ptr<SampleTask>> runnable_;
  std::deque<std::shared_ptr<BatchSlot>> slots_;  ///< front is handed out next
  std::shared_ptr<const Epoch> producing_;        ///< epoch of the next slot
  uint64_t next_batch_ = 0;                       ///< of the next slot
  std::shared_ptr<const Epoch> ahead_;            ///< next position to decode ahead of need
  uint64_t ahead_sample_ = 0;
  uint64_t admitted_ = 0;  ///< samples of producing_ admitted so far
  uint32_t consuming_epoch_ = 0;
  uint64_t consuming_batch_ = 0;
  int running_ = 0;  ///< tasks being worked on
  bool stopping_ = false;
  std::atomic<bool> cancelled_{false};  ///< stopping_, for decodes under way
  Status failure_;
  EngineCounts counts_;
  int64_t started_ns_ = 0;
  int64_t last_handed_ns_ = 0;

  std::vector<std::thread> threads_;
};

}  // namespace yoload
