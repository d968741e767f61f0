// SPDX-License-Identifier: Apache-2.0
#include "core/buffer.h"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace yoload {
namespace {

// Large blocks are mapped directly, so that giving them back really lowers the resident size:
// malloc would keep them in an arena.
constexpr size_t kMapBytes = size_t{256} << 10;

uint8_t* allocate_block(size_t capacity) {
  if (capacity >= kMapBytes) {
    void* block = mmap(nullptr, capacity + kReadPadding, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    return static_cast<uint8_t*>(block);
  }
  return static_cast<uint8_t*>(
      ::operator new (capacity + kReadPadding, std::align_val_t{kBufferAlignment}));
}

void free_block(uint8_t* data, size_t capacity) {
  if (capacity >= kMapBytes) {
    munmap(data, capacity + kReadPadding);
  } else {
    ::operator delete (data, std::align_val_t{kBufferAlignment});
  }
}

}  // namespace

Buffer Buffer::allocate(size_t bytes) {
  Buffer buffer;
  buffer.capacity_ = BufferPool::rounded_bytes(bytes);
  buffer.data_ = allocate_block(buffer.capacity_);
  buffer.size_ = bytes;
  return buffer;
}

void Buffer::reset() {
  if (data_ == nullptr) return;
  if (pool_) {
    pool_->put_back(data_, capacity_);
  } else {
    free_block(data_, capacity_);
  }
  data_ = nullptr;
  size_ = capacity_ = 0;
  pool_.reset();
}

std::shared_ptr<BufferPool> BufferPool::create(size_t max_idle_bytes) {
  return std::shared_ptr<BufferPool>(new BufferPool(max_idle_bytes));
}

BufferPool::~BufferPool() {
  trim(0);
}

size_t BufferPool::rounded_bytes(size_t bytes) {
  if (bytes <= 4096) return 4096;
  const size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

Buffer BufferPool::acquire(size_t bytes) {
  Buffer buffer;
  buffer.capacity_ = rounded_bytes(bytes);
  buffer.size_ = bytes;
  {
    std::lock_guard lock(mutex_);
    const auto found = idle_.find(buffer.capacity_);
    if (found != idle_.end() && !found->second.empty()) {
      buffer.data_ = found->second.back();
      found->second.pop_back();
      idle_bytes_ -= buffer.capacity_;
    }
  }
  if (buffer.data_ == nullptr) buffer.data_ = allocate_block(buffer.capacity_);
  buffer.pool_ = shared_from_this();
  return buffer;
}

void BufferPool::put_back(uint8_t* data, size_t capacity) {
  {
    std::lock_guard lock(mutex_);
    if (idle_bytes_ + capacity <= max_idle_bytes_) {
      idle_[capacity].push_back(data);
      idle_bytes_ += capacity;
      return;
    }
  }
  free_block(data, capacity);
}

void BufferPool::trim(size_t keep_bytes) {
  std::lock_guard lock(mutex_);
  for (auto entry = idle_.rbegin(); entry != idle_.rend() && idle_bytes_ > keep_bytes; ++entry) {
    while (!entry->second.empty() && idle_bytes_ > keep_bytes) {
      free_block(entry->second.back(), entry->first);
      entry->second.pop_back();
      idle_bytes_ -= entry->first;
    }
  }
}

size_t BufferPool::idle_bytes() const {
  std::lock_guard lock(mutex_);
  return idle_bytes_;
}

}  // namespace yoload
