// SPDX-License-Identifier: Apache-2.0
#include "pipeline/batch_memory.h"

namespace yoload {

BatchMemory::Block::~Block() {
  if (offers_ == nullptr || delivered_) return;
  std::lock_guard lock(offers_->mutex);
  // At the front: its lines may still be in a cache.
  offers_->waiting.push_front(offer_);
}

BatchMemory::BatchMemory(bool offered, size_t max_idle_bytes, DeviceLane* lane)
    : offered_(offered), lane_(lane), pool_(BufferPool::create(max_idle_bytes)) {}

void BatchMemory::offer(void* memory, size_t bytes, uint64_t token, uint64_t free_from) {
  std::lock_guard lock(offers_->mutex);
  offers_->waiting.push_back({static_cast<uint8_t*>(memory), bytes, token, free_from});
}

std::shared_ptr<BatchMemory::Block> BatchMemory::take(size_t bytes) {
  std::shared_ptr<Block> block(new Block);
  block->on_device_ = lane_ != nullptr;
  if (!offered_ && lane_ != nullptr) {
    block->device_ = lane_->allocate(bytes);
    block->data_ = block->device_->data;
    block->offer_.free_from = block->device_->free_from;
    return block;
  }
  if (!offered_) {
    block->own_ = pool_->acquire(bytes);
    block->data_ = block->own_.data();
    return block;
  }
  std::lock_guard lock(offers_->mutex);
  if (offers_->waiting.empty()) return nullptr;
  block->offer_ = offers_->waiting.front();
  offers_->waiting.pop_front();
  block->data_ = block->offer_.memory;
  block->offers_ = offers_;
  return block;
}

}  // namespace yoload
