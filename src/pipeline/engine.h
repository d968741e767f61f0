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
// Note [Decode groups]. A thread decodes several pictures in less time together than one after the
// other (decode/README.md). So a decode task is a group of up to kDecodeGroup positions, each of
// which is ready as soon as its own picture is, and while memory is plentiful samples are admitted
// until a whole group waits. Few large pictures are a group too: nobody waits long for the last
// one.
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
#include <optional>
#include <thread>
#include <vector>

#include "core/labels.h"
#include "metrics/stage_clock.h"
#include "pipeline/batch_memory.h"
#include "pipeline/device_lane.h"
#include "pipeline/epoch.h"
#include "pipeline/ledger.h"
#include "pipeline/memory_keeper.h"
#include "pipeline/sample_path.h"
#include "pipeline/tile_path.h"
#include "pipeline/tile_pool.h"

namespace yoload {

/// A batch being filled. On a GPU its samples are planned one by one and rendered together.
struct BatchSlot {
  std::shared_ptr<const Epoch> epoch;
  uint64_t index = 0;
  BatchShape shape;
  Batch batch;  ///< img and samples are in place from the start
  std::shared_ptr<BatchMemory::Block> memory;
  std::vector<SampleLabels> labels;              ///< one a sample
  std::vector<PlannedTiles> planned;             ///< one a sample; GPU only
  std::vector<std::shared_ptr<PoolEntry>> held;  ///< what planned shows
  uint64_t point = 0;  ///< of the GPU's work, after which the batch is there
  int admitted = 0;
  int unfinished = 0;
  bool ready = false;
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
  uint64_t late_batches = 0;       ///< handed over before the GPU had finished them
  int64_t consumer_wait_ns = 0, consumer_busy_ns = 0;
  DropCounts dropped;
};

/// One consumer; set_epoch, next and stop may be called from it or, for stop, from any thread.
class Engine {
 public:
  /// A position whose record and replacements all fail this often belongs to a data set without a
  /// readable picture.
  static constexpr uint32_t kMaxAttempts = 64;

  /// Two rounds of what a thread has in flight: the second hides that pictures differ in size.
  static constexpr size_t kDecodeGroup = 2 * Decoder::kTogether;
  /// A group of more bytes than this gets no third picture.
  static constexpr uint64_t kLargeGroupBytes = uint64_t{64} << 20;

  Engine(const LoaderOptions& options, const DatasetIndex& index);
  ~Engine();

  void set_epoch(uint32_t epoch, uint64_t first_batch);
  /// The next finished batch with its labels; null at the end of an epoch. Waits at most
  /// `timeout_ms` (for ever if negative): then null, and *ready false.
  std::shared_ptr<BatchSlot> next(int timeout_ms, bool* ready, StreamHandle stream);
  /// With LoaderOptions::offered_memory: a buffer for a coming batch.
  void offer(void* memory, size_t bytes, uint64_t token, StreamHandle stream);
  size_t largest_batch_bytes() const { return largest_batch_bytes_; }
  int prefetch() const { return prefetch_; }
  void stop();

  std::shared_ptr<const Epoch> epoch(uint32_t number) const;
  const SamplePath& samples() const { return samples_; }
  const TilePath& tiles() const { return tiles_; }
  DeviceLane* device() const { return device_.get(); }
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
  template <class Loaded>
  struct Resolved {
    uint32_t record = 0;
    Loaded loaded;
  };
  using ResolvedTile = Resolved<std::shared_ptr<const Tile>>;
  /// A picture whose CPU part is done, and whose it is.
  struct Prepared {
    std::shared_ptr<PoolEntry> entry;
    std::unique_ptr<PreparedTile> tile;
  };

  void work();
  /// One task, or one admission; false when there is nothing to do now.
  bool work_once(Lock& lock, WorkerState* worker);
  bool start_decodes(Lock& lock, WorkerState* worker);
  bool room_for_group() const;
  void render(Lock& lock, WorkerState* worker);
  void finish(PoolEntry* entry, uint32_t record, std::shared_ptr<const Tile> tile);

  // The same steps on a GPU: engine_device.cpp.
  bool work_once_for_device(Lock& lock, WorkerState* worker);
  bool start_prepare(Lock& lock, WorkerState* worker);
  bool submit_prepared(Lock& lock, WorkerState* worker);
  void plan(Lock& lock, WorkerState* worker);
  void render_batch(Lock& lock, WorkerState* worker);
  Result<ResolvedTile> resolve_on_device(const Epoch& epoch, uint64_t position,
                                         WorkerState* worker);
  void render_alone_on_device(const Epoch& epoch, const SampleDraws& draws, BatchSlot* slot,
                              WorkerState* worker);
  bool admit_sample();
  bool open_slot();
  bool decode_ahead();
  bool room_ahead(uint32_t record);
  bool epoch_planned(uint32_t number) const;
  /// Null when there is no memory for it on offer.
  std::shared_ptr<BatchSlot> make_slot(std::shared_ptr<const Epoch> epoch, uint64_t batch,
                                       BatchMemory* memory);
  /// The first of the position's record and its replacements that `load` can use, the others in the
  /// ledger. load(record) -> Result<Loaded>.
  template <class Loaded, class Load>
  Result<Resolved<Loaded>> resolve_with(const Epoch& epoch, uint64_t position, const Load& load);
  /// `known` is why the position's own record cannot be used, where that was tried already.
  Result<ResolvedTile> resolve(const Epoch& epoch, uint64_t position, WorkerState* worker,
                               std::optional<Status> known = {});
  using Failures = std::vector<std::pair<uint32_t, Status>>;
  Status note_replacement(const Epoch& epoch, uint64_t position, const Failures& failed,
                          uint32_t record);
  Status nothing_readable(const Epoch& epoch, uint64_t position, const Failures& failed);
  void fail(Status status);
  bool take_memory(uint64_t bytes);

  const LoaderOptions& options_;
  const DatasetIndex& index_;
  MemoryKeeper memory_;
  size_t largest_batch_bytes_ = 0;
  std::unique_ptr<BatchMemory> batch_memory_;
  TilePath tiles_;
  SamplePath samples_;
  std::unique_ptr<DeviceLane> device_;  ///< null: everything on the CPU
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
  std::vector<Prepared> prepared_;                     ///< GPU: to be submitted together
  std::deque<std::shared_ptr<BatchSlot>> renderable_;  ///< GPU: planned completely
  int preparing_ = 0;
  bool submitting_ = false, rendering_ = false;
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

template <class Loaded, class Load>
Result<Engine::Resolved<Loaded>> Engine::resolve_with(const Epoch& owner, uint64_t position,
                                                      const Load& load) {
  std::vector<std::pair<uint32_t, Status>> failed;
  for (uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const uint32_t record =
        attempt == 0 ? owner.record_at(position) : owner.replacement(position, attempt);
    Status cause = ledger_.cause_of(record);
    if (cause.ok()) {
      Result<Loaded> loaded = load(record);
      if (loaded.ok()) {
        if (Status status = note_replacement(owner, position, failed, record); !status.ok())
          return status;
        return Resolved<Loaded>{record, std::move(*loaded)};
      }
      if (cancelled_.load(std::memory_order_relaxed)) {
        return Status(Code::cancelled, Stage::pipeline, "the loader is closed");
      }
      cause = std::move(loaded).status();
    }
    failed.emplace_back(record, std::move(cause));
  }
  return nothing_readable(owner, position, failed);
}

}  // namespace yoload
