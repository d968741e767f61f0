// SPDX-License-Identifier: Apache-2.0
#include "pipeline/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/machine.h"
#include "core/raise.h"

namespace yoload {
namespace {

uint64_t batch_bytes(const LoaderOptions& options, const DatasetIndex& index, BatchShape shape) {
  return static_cast<uint64_t>(options.batch_size) * static_cast<uint64_t>(index.channels) *
         static_cast<uint64_t>(shape.height_px) * static_cast<uint64_t>(shape.width_px) *
         bytes_of(options.dtype);
}

/// The largest shape that a batch of this run can have.
BatchShape largest_shape(const LoaderOptions& options, const RectBatches* rect) {
  const double scale = options.augment_enabled ? options.augment.multi_scale : 0;
  const int side =
      scale > 0 ? static_cast<int>(options.imgsz * (1 + scale)) + options.stride : options.imgsz;
  BatchShape largest = {side, side};
  if (rect != nullptr) {
    for (const BatchShape& shape : rect->shapes) {
      largest.height_px = std::max(largest.height_px, shape.height_px);
      largest.width_px = std::max(largest.width_px, shape.width_px);
    }
  }
  return largest;
}

/// As many batches as asked for, while they leave two thirds of the budget to pictures.
int prefetch_depth(const LoaderOptions& options, uint64_t one, uint64_t limit_bytes) {
  const uint64_t fit = limit_bytes / 3 / std::max<uint64_t>(one, 1);
  // One more is with the consumer.
  return std::clamp<int>(static_cast<int>(std::min<uint64_t>(fit, 1000)) - 1, 1,
                         std::max(1, options.prefetch_factor));
}

uint64_t allowed_failures(const LoaderOptions& options, const DatasetIndex& index) {
  const double share = options.error_budget * static_cast<double>(index.images.size());
  return std::max<uint64_t>(10, static_cast<uint64_t>(std::ceil(share)));
}

}  // namespace

Engine::Engine(const LoaderOptions& options, const DatasetIndex& index)
    : options_(options),
      index_(index),
      memory_(options.memory_budget_bytes),
      tiles_(options, index, &memory_),
      samples_(options, index),
      ledger_(allowed_failures(options, index)) {
  if (options.rect) {
    // Ranks step together: a shape covers what all of them see at that step.
    rect_ = std::make_shared<RectBatches>(
        rect_batches(index.images, options.rect_order, options.batch_size * options.world_size,
                     options.imgsz, options.stride, options.rect_pad));
  }
  const uint64_t one = batch_bytes(options, index, largest_shape(options, rect_.get()));
  prefetch_ = prefetch_depth(options, one, options.memory_budget_bytes);
  // Batches on a GPU are the consumer's memory, or of the device budget.
  if (options.device == "cpu") memory_.take(one * static_cast<uint64_t>(prefetch_ + 1));
  largest_batch_bytes_ = one;
  if (options.device != "cpu") {
    const uint64_t on_their_way = one * static_cast<uint64_t>(prefetch_ + 2);
    device_ = make_device_lane(options, index, tiles_, on_their_way, [this] {
      std::lock_guard lock(mutex_);
      work_ready_.notify_all();
    });
  }
  batch_memory_ = std::make_unique<BatchMemory>(
      options.offered_memory, one * static_cast<uint64_t>(prefetch_ + 1) * 5 / 4, device_.get());
  producing_ = epoch(0);
  started_ns_ = now_ns();
  for (int i = 0; i < options.workers; ++i) threads_.emplace_back([this] { work(); });
}

Engine::~Engine() {
  stop();
  for (std::thread& thread : threads_) thread.join();
  // The GPU may still write into buffers that the consumer takes back now.
  if (device_) device_->drain();
  pool_.clear();
}

std::shared_ptr<const Epoch> Engine::epoch(uint32_t number) const {
  return std::make_shared<Epoch>(options_, index_, number, rect_);
}

void Engine::stop() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  cancelled_.store(true, std::memory_order_relaxed);
  work_ready_.notify_all();
  batch_ready_.notify_all();
}

void Engine::set_epoch(uint32_t number, uint64_t first_batch) {
  std::lock_guard lock(mutex_);
  const bool prepared =
      slots_.empty()
          ? producing_->number() == number && next_batch_ == first_batch
          : slots_.front()->epoch->number() == number && slots_.front()->index == first_batch;
  consuming_epoch_ = number;
  consuming_batch_ = first_batch;
  last_handed_ns_ = 0;  // what the consumer did between two epochs is not a step
  if (prepared) return;
  // Tasks that are running keep their slot and entries alive and finish into nowhere.
  slots_.clear();
  runnable_.clear();
  renderable_.clear();
  prepared_.clear();
  decodes_.clear();
  pool_.clear();
  producing_ = epoch(number);
  next_batch_ = first_batch;
  admitted_ = first_batch * static_cast<uint64_t>(options_.batch_size);
  ahead_ = nullptr;
  pool_.advance(*producing_, producing_->position_of(admitted_));
  work_ready_.notify_all();
}

void Engine::offer(void* memory, size_t bytes, uint64_t token, StreamHandle stream) {
  batch_memory_->offer(memory, bytes, token, device_ ? device_->mark(stream) : 0);
  std::lock_guard lock(mutex_);
  work_ready_.notify_all();
}

std::shared_ptr<BatchSlot> Engine::next(int timeout_ms, bool* ready, StreamHandle stream) {
  *ready = true;
  const int64_t asked_ns = now_ns();
  Lock lock(mutex_);
  if (last_handed_ns_ != 0) counts_.consumer_busy_ns += asked_ns - last_handed_ns_;
  last_handed_ns_ = 0;
  if (consuming_batch_ >= producing_->batches()) {
    ++consuming_epoch_;
    consuming_batch_ = 0;
    return nullptr;
  }
  const auto finished = [](const auto& slot) { return slot->ready; };
  counts_.ready_batches_sum += static_cast<uint64_t>(
      std::find_if_not(slots_.begin(), slots_.end(), finished) - slots_.begin());
  work_ready_.notify_all();
  const auto something = [&] {
    return stopping_ || !failure_.ok() || (!slots_.empty() && finished(slots_.front()));
  };
  if (timeout_ms < 0) {
    batch_ready_.wait(lock, something);
  } else {
    *ready = batch_ready_.wait_for(lock, std::chrono::milliseconds(timeout_ms), something);
  }
  const int64_t got_ns = now_ns();
  counts_.consumer_wait_ns += got_ns - asked_ns;
  if (!*ready) return nullptr;
  if (!failure_.ok()) raise(failure_);
  if (stopping_) throw Closed();
  std::shared_ptr<BatchSlot> slot = std::move(slots_.front());
  slots_.pop_front();
  slot->memory->deliver(stream);
  if (device_) {
    counts_.late_batches += device_->passed(slot->point) ? 0 : 1;
    device_->hand_over(slot->point, stream);
  }
  ++consuming_batch_;
  ++counts_.batches;
  counts_.images += static_cast<uint64_t>(slot->batch.size);
  for (const SampleLabels& labels : slot->labels) counts_.dropped.add(labels.dropped);
  for (const SampleInfo& info : slot->batch.samples) counts_.replaced += info.replaced ? 1 : 0;
  work_ready_.notify_all();
  last_handed_ns_ = now_ns();
  return slot;
}

void Engine::work() {
  WorkerState worker(options_, index_.channels, &cancelled_, clocks_.add_thread());
  if (device_) device_->use_on_this_thread();
  Lock lock(mutex_);
  while (!stopping_) {
    try {
      if (failure_.ok() &&
          (device_ ? work_once_for_device(lock, &worker) : work_once(lock, &worker)))
        continue;
    } catch (const Error& error) {  // of the GPU
      if (!lock.owns_lock()) lock.lock();
      fail(Status(Code::device, Stage::transfer, error.cause()));
    } catch (const std::exception& error) {  // bad_alloc, in practice
      if (!lock.owns_lock()) lock.lock();
      fail(Status(Code::out_of_memory, Stage::pipeline, error.what()));
    }
    const int64_t start_ns = now_ns();
    worker.clocks->publish_cpu();
    work_ready_.wait(lock);
    worker.clocks->add(Work::wait, now_ns() - start_ns);
  }
  worker.clocks->publish_cpu();
}

bool Engine::work_once(Lock& lock, WorkerState* worker) {
  if (!runnable_.empty()) {
    render(lock, worker);
    return true;
  }
  while (decodes_.size() < kDecodeGroup && (decodes_.empty() || room_for_group())) {
    if (!admit_sample() && !decode_ahead()) break;
    if (!runnable_.empty()) return true;
  }
  return !decodes_.empty() && start_decodes(lock, worker);
}

bool Engine::decode_ahead() {
  if (ahead_ == nullptr || ahead_->number() < producing_->number()) {
    ahead_ = producing_;
    ahead_sample_ = admitted_;
  }
  if (ahead_->number() == producing_->number()) ahead_sample_ = std::max(ahead_sample_, admitted_);
  const auto distance = [&] {
    return ahead_->number() == producing_->number()
               ? ahead_sample_ - admitted_
               : producing_->samples() - admitted_ + ahead_sample_;
  };
  while (distance() * static_cast<uint64_t>(options_.world_size) <
         static_cast<uint64_t>(options_.window)) {
    if (ahead_sample_ >= ahead_->samples()) {
      if (ahead_->number() > producing_->number() || !epoch_planned(ahead_->number() + 1))
        return false;
      ahead_ = epoch(ahead_->number() + 1);
      ahead_sample_ = 0;
      continue;
    }
    const uint64_t position = ahead_->position_of(ahead_sample_);
    if (!room_ahead(ahead_->record_at(position))) return false;
    ++ahead_sample_;
    if (auto entry = pool_.add(ahead_, position)) {
      decodes_.push_back(std::move(entry));
      return true;
    }
  }
  return false;
}

bool Engine::room_ahead(uint32_t record) {
  if (device_) return device_->memory_used() < 2.0 / 3;
  return memory_.budget()->used_bytes() + tiles_.working_bytes(record) <=
         memory_.budget()->limit_bytes() / 3 * 2;
}

bool Engine::epoch_planned(uint32_t number) const {
  return options_.epochs <= 0 || number < static_cast<uint32_t>(options_.epochs);
}

bool Engine::open_slot() {
  if (slots_.size() >= static_cast<size_t>(prefetch_)) return false;
  if (next_batch_ >= producing_->batches()) {
    if (producing_->batches() == 0) return false;
    const uint32_t following = producing_->number() + 1;
    if (!epoch_planned(following)) return false;
    producing_ = epoch(following);
    next_batch_ = 0;
    pool_.advance(*producing_, 0);
    admitted_ = 0;
  }
  auto slot = make_slot(producing_, next_batch_, batch_memory_.get());
  if (slot == nullptr) return false;
  ++next_batch_;
  slots_.push_back(std::move(slot));
  return true;
}

std::shared_ptr<BatchSlot> Engine::make_slot(std::shared_ptr<const Epoch> owner, uint64_t index,
                                             BatchMemory* memory) {
  auto slot = std::make_shared<BatchSlot>();
  slot->index = index;
  slot->shape = owner->shape_of(index);
  slot->unfinished = owner->batch_samples(index);
  slot->first_sample = index * static_cast<uint64_t>(options_.batch_size);
  slot->labels.resize(static_cast<size_t>(slot->unfinished));
  if (device_) slot->planned.resize(slot->labels.size());
  Batch& batch = slot->batch;
  batch.epoch = owner->number();
  batch.index = index;
  batch.size = slot->unfinished;
  batch.channels = index_.channels;
  batch.height_px = slot->shape.height_px;
  batch.width_px = slot->shape.width_px;
  batch.dtype = options_.dtype;
  batch.samples.resize(static_cast<size_t>(batch.size));
  // The block goes back to where it came from when the last reference is dropped.
  slot->memory = memory->take(batch.img_bytes());
  if (slot->memory == nullptr) return nullptr;
  batch.img = std::shared_ptr<uint8_t>(slot->memory, slot->memory->data());
  batch.token = slot->memory->token();
  batch.device = slot->memory->on_device() ? device_->ordinal() : -1;
  slot->epoch = std::move(owner);
  return slot;
}

bool Engine::admit_sample() {
  const auto open = [](const auto& slot) {
    return slot->admitted < static_cast<int>(slot->labels.size());
  };
  auto slot = std::find_if(slots_.begin(), slots_.end(), open);
  if (slot == slots_.end()) {
    if (!failure_.ok() || !open_slot()) return false;
    slot = std::prev(slots_.end());
  }
  auto task = std::make_shared<SampleTask>();
  task->slot = *slot;
  task->index = (*slot)->admitted++;
  const uint64_t sample = (*slot)->first_sample + static_cast<uint64_t>(task->index);
  const uint64_t position = (*slot)->epoch->position_of(sample);
  SampleInfo& info = (*slot)->batch.samples[static_cast<size_t>(task->index)];
  info.position = position;
  info.repeated = position >= (*slot)->epoch->images();
  task->draws = samples_.draw(*(*slot)->epoch, position);
  for (const uint64_t needed : positions(task->draws)) {
    bool made = false;
    auto entry = pool_.pin((*slot)->epoch, needed, &made);
    if (made) decodes_.push_back(entry);
    if (!entry->ready) {
      ++task->missing;
      entry->waiters.push_back(task);
    }
    task->entries.push_back(std::move(entry));
  }
  pool_.advance(*(*slot)->epoch, (*slot)->epoch->position_of(sample + 1));
  admitted_ = sample + 1;
  if (task->missing == 0) runnable_.push_back(std::move(task));
  if (decodes_.size() + runnable_.size() > 1) work_ready_.notify_all();
  return true;
}

bool Engine::take_memory(uint64_t bytes) {
  while (!memory_.try_take(bytes)) {
    if (!pool_.evict_one(producing_->number(), producing_->position_of(admitted_))) {
      if (running_ > 0) return false;
      memory_.take(bytes);
      return true;
    }
  }
  return true;
}

bool Engine::room_for_group() const {
  const uint64_t one = tiles_.working_bytes(decodes_.front()->planned());
  return memory_.budget().used_bytes() + kDecodeGroup * one <= memory_.budget().limit_bytes();
}

bool Engine::start_decodes(Lock& lock, WorkerState* worker) {
  using Entry = std::shared_ptr<PoolEntry>;
  std::vector<Entry> group;
  std::vector<TileRequest> requests;
  std::vector<std::pair<Entry, std::optional<Status>>> failed;  // the status of what was tried
  uint64_t group_bytes = 0;
  while (group.size() < kDecodeGroup && !decodes_.empty()) {
    if (group.size() >= Decoder::kTogether && group_bytes > kLargeGroupBytes) break;
    const uint32_t planned = decodes_.front()->planned();
    const uint64_t bytes = tiles_.working_bytes(planned);
    if (group.empty() ? !take_memory(bytes) : !memory_.try_take(bytes)) break;
    BudgetLease lease(memory_.budget(), bytes);
    if (ledger_.cause_of(planned).ok()) {
      group_bytes += bytes;
      requests.push_back({planned, std::move(lease)});
      group.push_back(std::move(decodes_.front()));
    } else {
      failed.emplace_back(std::move(decodes_.front()), std::nullopt);
    }
    decodes_.pop_front();
  }
  if (group.empty() && failed.empty()) return false;
  ++running_;
  lock.unlock();
  const auto deliver = [&](PoolEntry* entry, uint32_t record, std::shared_ptr<const Tile> tile) {
    lock.lock();
    finish(entry, record, std::move(tile));
    if (!runnable_.empty()) work_ready_.notify_all();
    lock.unlock();
  };
  tiles_.load_many(std::move(requests), worker, [&](size_t i, TilePath::LoadedTile tile) {
    if (tile.ok()) {
      deliver(group[i].get(), group[i]->planned(), std::move(*tile));
    } else {
      failed.emplace_back(group[i], std::move(tile).status());
    }
  });
  Status ended;
  for (auto& [entry, why] : failed) {
    auto resolved = resolve(*entry->epoch, entry->position, worker, std::move(why));
    if (resolved.ok()) {
      deliver(entry.get(), resolved->record, std::move(resolved->loaded));
    } else if (ended.ok()) {
      ended = std::move(resolved).status();
    }
  }
  lock.lock();
  --running_;
  if (!ended.ok()) fail(std::move(ended));
  if (!runnable_.empty() || !decodes_.empty()) work_ready_.notify_all();
  return true;
}

void Engine::finish(PoolEntry* entry, uint32_t record, std::shared_ptr<const Tile> tile) {
  entry->ready = true;
  entry->record = record;
  entry->tile = std::move(tile);
  for (std::shared_ptr<SampleTask>& task : entry->waiters) {
    if (--task->missing == 0) runnable_.push_back(std::move(task));
  }
  entry->waiters.clear();
}

void Engine::render(Lock& lock, WorkerState* worker) {
  const std::shared_ptr<SampleTask> task = std::move(runnable_.front());
  runnable_.pop_front();
  ++running_;
  lock.unlock();
  const std::shared_ptr<BatchSlot>& slot = task->slot;
  std::vector<SampleSource> sources;
  for (const auto& entry : task->entries) sources.push_back({entry->record, entry->tile.get()});
  const auto index = static_cast<size_t>(task->index);
  const size_t sample_bytes = slot->batch.img_bytes() / slot->labels.size();
  slot->labels[index] = samples_.render(*slot->epoch, task->draws, slot->shape, sources,
                                        slot->batch.img.get() + index * sample_bytes, worker,
                                        &slot->batch.samples[index]);
  worker->clocks->publish_cpu();
  lock.lock();
  --running_;
  for (const auto& entry : task->entries) pool_.unpin(entry.get());
  if (--slot->unfinished == 0) {
    slot->ready = true;
    batch_ready_.notify_all();
  }
  if (!decodes_.empty()) work_ready_.notify_one();  // memory may be free again
}

Result<Engine::ResolvedTile> Engine::resolve(const Epoch& owner, uint64_t position,
                                             WorkerState* worker, std::optional<Status> known) {
  const uint32_t planned = owner.record_at(position);
  return resolve_with<std::shared_ptr<const Tile>>(
      owner, position, [&](uint32_t record) -> TilePath::LoadedTile {
        if (known && record == planned) return *known;
        BudgetLease lease(memory_.budget(), 0);
        lease.resize(tiles_.working_bytes(record));
        return tiles_.load({record, std::move(lease)}, worker);
      });
}

/// Writes down what `record` stands in for; a failure when the error budget is spent.
Status Engine::note_replacement(const Epoch& owner, uint64_t position, const Failures& failed,
                                uint32_t record) {
  for (const auto& [bad, why] : failed) {
    ledger_.note(owner.number(), position, bad, why, index_.path(record));
  }
  if (failed.empty() || !ledger_.exhausted()) return {};
  const Status& why = failed.front().second;
  return Status(why.code(), why.stage(),
                fmt::format("more than {} pictures could not be used (error_budget); the last: {}",
                            ledger_.allowed(), why.message()),
                why.path());
}

Status Engine::nothing_readable(const Epoch& owner, uint64_t position, const Failures& failed) {
  for (const auto& [bad, why] : failed) ledger_.note(owner.number(), position, bad, why, "");
  const Status& last = failed.back().second;
  return Status(
      last.code(), last.stage(),
      fmt::format("no readable picture in {} attempts; the last: {}", kMaxAttempts, last.message()),
      last.path());
}

void Engine::fail(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  batch_ready_.notify_all();
}

EngineCounts Engine::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

uint64_t Engine::evictions() const {
  std::lock_guard lock(mutex_);
  return pool_.evictions();
}

double Engine::wall_s() const {
  return static_cast<double>(now_ns() - started_ns_) * 1e-9;
}

PlannedSample Engine::plan_alone(uint32_t number, uint64_t position) {
  const auto owner = epoch(number);
  const SampleDraws draws = samples_.draw(*owner, position);
  ThreadClocks clocks;
  WorkerState worker(options_, index_.channels, &cancelled_, &clocks);
  std::vector<uint32_t> records;
  for (const uint64_t needed : positions(draws)) {
    auto resolved = resolve(*owner, needed, &worker);
    if (!resolved.ok()) raise(resolved.status());
    records.push_back(resolved->record);
  }
  return samples_.lay_out_sample(*owner, draws, owner->shape_of(owner->batch_of(position)),
                                 records);
}

std::shared_ptr<BatchSlot> Engine::render_alone(uint32_t number, uint64_t position) {
  const auto owner = epoch(number);
  ThreadClocks clocks;
  WorkerState worker(options_, index_.channels, &cancelled_, &clocks);
  const SampleDraws draws = samples_.draw(*owner, position);
  BatchMemory own(false, 0);  // the stream's buffers are not for this
  auto slot = make_slot(owner, owner->batch_of(position), &own);
  slot->batch.size = 1;
  slot->batch.samples.resize(1);
  slot->batch.samples[0].position = position;
  slot->batch.samples[0].repeated = position >= owner->images();
  slot->labels.resize(1);
  slot->unfinished = 0;
  if (device_) {
    render_alone_on_device(*owner, draws, slot.get(), &worker);
    return slot;
  }
  std::vector<std::shared_ptr<const Tile>> kept;
  std::vector<SampleSource> sources;
  for (const uint64_t needed : positions(draws)) {
    auto resolved = resolve(*owner, needed, &worker);
    if (!resolved.ok()) raise(resolved.status());
    kept.push_back(std::move(resolved->loaded));
    sources.push_back({resolved->record, kept.back().get()});
  }
  slot->labels[0] = samples_.render(*owner, draws, slot->shape, sources, slot->batch.img.get(),
                                    &worker, &slot->batch.samples[0]);
  return slot;
}

}  // namespace yoload
