// The engine's steps where batches are made on a GPU.
//
// Note [Steps on a GPU]. A position's picture is prepared on the CPU (read, looked at, and decoded
// if the GPU cannot), one task a picture. Prepared pictures are submitted together: a decoder on
// the GPU wants dozens at once. Then samples are planned, one task each, and when the last sample
// of a batch is planned the whole batch is rendered by one call. Submitting and rendering only put
// work into streams. A thread submits what there is, however little, only when it would otherwise
// sleep and nobody is preparing more.
// SPDX-License-Identifier: Apache-2.0
#include "core/raise.h"
#include "pipeline/engine.h"

namespace yoload {

bool Engine::work_once_for_device(Lock& lock, WorkerState* worker) {
  const bool enough = prepared_.size() >= static_cast<size_t>(device_->decode_batch());
  if (enough && submit_prepared(lock, worker)) return true;
  if (!renderable_.empty() && !rendering_ && device_->can_render()) {
    render_batch(lock, worker);
    return true;
  }
  if (!runnable_.empty()) {
    plan(lock, worker);
    return true;
  }
  if (!decodes_.empty()) {
    if (start_prepare(lock, worker)) return true;
  } else if (admit_sample() || decode_ahead()) {
    return true;
  }
  return preparing_ == 0 && submit_prepared(lock, worker);
}

bool Engine::start_prepare(Lock& lock, WorkerState* worker) {
  if (!device_->can_stage()) return false;
  const std::shared_ptr<PoolEntry> entry = decodes_.front();
  const uint32_t planned = entry->epoch->record_at(entry->position);
  auto reserved = device_->reserve(planned, false);
  while (reserved == nullptr &&
         pool_.evict_one(producing_->number(), producing_->position_of(admitted_))) {
    reserved = device_->reserve(planned, false);
  }
  if (reserved == nullptr) {
    // Whatever holds memory now will let go of it, unless there is nothing.
    if (running_ > 0 || !prepared_.empty() || !renderable_.empty()) return false;
    reserved = device_->reserve(planned, true);
  }
  decodes_.pop_front();
  ++running_, ++preparing_;
  lock.unlock();
  auto resolved = resolve_with<std::unique_ptr<PreparedTile>>(
      *entry->epoch, entry->position, [&](uint32_t record) {
        // The planned picture's memory may be too small for another one.
        if (record != planned || reserved == nullptr) reserved = device_->reserve(record, true);
        return device_->prepare(record, std::move(reserved), worker);
      });
  worker->clocks->publish_cpu();
  lock.lock();
  --running_, --preparing_;
  if (!resolved.ok()) {
    fail(std::move(resolved).status());
    return true;
  }
  prepared_.push_back({entry, std::move(resolved->loaded)});
  if (preparing_ == 0) work_ready_.notify_one();
  return true;
}

bool Engine::submit_prepared(Lock& lock, WorkerState* worker) {
  if (submitting_ || prepared_.empty() || !device_->can_submit()) return false;
  submitting_ = true;
  ++running_;
  std::vector<Prepared> group;
  const auto most = static_cast<size_t>(device_->decode_batch());
  if (prepared_.size() <= most) {
    group.swap(prepared_);
  } else {
    const auto end = prepared_.begin() + static_cast<ptrdiff_t>(most);
    group.assign(std::make_move_iterator(prepared_.begin()), std::make_move_iterator(end));
    prepared_.erase(prepared_.begin(), end);
  }
  lock.unlock();
  std::vector<std::unique_ptr<PreparedTile>> tiles;
  for (Prepared& one : group) tiles.push_back(std::move(one.tile));
  std::vector<std::shared_ptr<const Tile>> submitted;
  {
    StageTimer timer(worker->clocks, Work::submit);
    submitted = device_->submit(tiles);
  }
  lock.lock();
  submitting_ = false;
  --running_;
  for (size_t i = 0; i < group.size(); ++i) {
    if (submitted[i] != nullptr) {
      finish(group[i].entry.get(), tiles[i]->record, std::move(submitted[i]));
    } else {
      decodes_.push_front(group[i].entry);
    }
  }
  work_ready_.notify_all();
  return true;
}

void Engine::plan(Lock& lock, WorkerState* worker) {
  const std::shared_ptr<SampleTask> task = std::move(runnable_.front());
  runnable_.pop_front();
  ++running_;
  lock.unlock();
  const std::shared_ptr<BatchSlot>& slot = task->slot;
  const auto index = static_cast<size_t>(task->index);
  std::vector<uint32_t> records;
  PlannedTiles& planned = slot->planned[index];
  for (const auto& entry : task->entries) {
    records.push_back(entry->record);
    planned.tiles.push_back(entry->tile);
  }
  PlannedSample sample = samples_.plan(*slot->epoch, task->draws, slot->shape, records,
                                       worker->clocks, &slot->batch.samples[index]);
  planned.plan = std::move(sample.plan);
  slot->labels[index] = std::move(sample.labels);
  worker->clocks->publish_cpu();
  lock.lock();
  --running_;
  slot->held.insert(slot->held.end(), task->entries.begin(), task->entries.end());
  if (--slot->unfinished == 0) renderable_.push_back(slot);
}

void Engine::render_batch(Lock& lock, WorkerState* worker) {
  const std::shared_ptr<BatchSlot> slot = std::move(renderable_.front());
  renderable_.pop_front();
  rendering_ = true;
  ++running_;
  lock.unlock();
  {
    StageTimer timer(worker->clocks, Work::submit);
    RenderTarget target = samples_.target(slot->shape);
    target.data = slot->batch.img.get();
    slot->point = device_->render(slot->planned, target, slot->memory->free_from());
    slot->memory->written_until(slot->point);
    slot->planned.clear();
  }
  lock.lock();
  rendering_ = false;
  --running_;
  for (const auto& entry : slot->held) pool_.unpin(entry.get());
  slot->held.clear();
  slot->ready = true;
  batch_ready_.notify_all();
  work_ready_.notify_all();  // memory may be free again
}

Result<Engine::ResolvedTile> Engine::resolve_on_device(const Epoch& owner, uint64_t position,
                                                       WorkerState* worker) {
  for (;;) {
    auto resolved =
        resolve_with<std::unique_ptr<PreparedTile>>(owner, position, [&](uint32_t record) {
          return device_->prepare(record, device_->reserve(record, true), worker);
        });
    if (!resolved.ok()) return std::move(resolved).status();
    auto tiles = device_->submit({&resolved->loaded, 1});
    // A picture that the GPU refuses takes the CPU the second time.
    if (tiles.front() != nullptr) return ResolvedTile{resolved->record, std::move(tiles.front())};
  }
}

void Engine::render_alone_on_device(const Epoch& owner, const SampleDraws& draws, BatchSlot* slot,
                                    WorkerState* worker) {
  device_->use_on_this_thread();
  std::vector<PlannedTiles> planned(1);
  std::vector<uint32_t> records;
  for (const uint64_t needed : positions(draws)) {
    auto resolved = resolve_on_device(owner, needed, worker);
    if (!resolved.ok()) raise(resolved.status());
    records.push_back(resolved->record);
    planned[0].tiles.push_back(std::move(resolved->loaded));
  }
  PlannedSample sample =
      samples_.plan(owner, draws, slot->shape, records, worker->clocks, &slot->batch.samples[0]);
  planned[0].plan = std::move(sample.plan);
  slot->labels[0] = std::move(sample.labels);
  const auto memory = device_->allocate(slot->batch.img_bytes());
  RenderTarget target = samples_.target(slot->shape);
  target.data = memory->data;
  memory->written_until(device_->render(planned, target, memory->free_from));
  device_->drain();
  device_->copy_to_host(memory->data, slot->batch.img.get(), slot->batch.img_bytes());
}

}  // namespace yoload
