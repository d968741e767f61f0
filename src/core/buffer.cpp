// SPDX-License-Identifier: Apache-2.0
#include "core/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace yoload {

/// A piece of memory that blocks of one class share. Guarded by its pool's mutex.
struct Slab {
  uint8_t* mapping = nullptr;
  size_t mapping_bytes = 0;
  size_t blocks = 0;
  size_t used = 0;  ///< blocks handed out
};

namespace {

// Large blocks are mapped directly, so that giving them back really lowers the resident size:
// malloc would keep them in an arena.
constexpr size_t kMapBytes = size_t{256} << 10;
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kMaxSlabBytes = size_t{8} << 20;

uint8_t* map(size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  // A wish: without huge pages it works all the same.
  if (bytes > kMaxSlabBytes) madvise(block, bytes, MADV_HUGEPAGE);
  return static_cast<uint8_t*>(block);
}

uint8_t* allocate_block(size_t capacity) {
  if (capacity >= kMapBytes) return map(capacity + kReadPadding);
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

size_t slab_bytes(size_t capacity, size_t blocks) {
  return (capacity * blocks + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

/// How many blocks fill whole huge pages with the least waste.
size_t blocks_per_slab(size_t capacity) {
  size_t best = 1;
  const auto waste = [&](size_t blocks) {
    const size_t bytes = slab_bytes(capacity, blocks);
    return static_cast<double>(bytes - capacity * blocks) / static_cast<double>(bytes);
  };
  for (size_t blocks = 2; slab_bytes(capacity, blocks) <= kMaxSlabBytes; ++blocks) {
    if (waste(blocks) < waste(best) - 0.01) best = blocks;
  }
  return best;
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
    pool_->put_back({data_, slab_}, capacity_);
  } else {
    free_block(data_, capacity_);
  }
  data_ = nullptr;
  slab_ = nullptr;
  size_ = capacity_ = 0;
  pool_.reset();
}

std::shared_ptr<BufferPool> BufferPool::create(size_t max_idle_bytes, bool slabs) {
  return std::shared_ptr<BufferPool>(new BufferPool(max_idle_bytes, slabs));
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
  Block block;
  {
    std::lock_guard lock(mutex_);
    std::vector<Block>& idle = idle_[buffer.capacity_];
    if (!idle.empty()) {
      block = idle.back();
      idle.pop_back();
      idle_bytes_ -= buffer.capacity_;
    } else if (slabs_ && buffer.capacity_ >= kMapBytes && buffer.capacity_ <= kMaxSlabBytes / 2) {
      block = make_slab(buffer.capacity_);
    }
    if (block.slab != nullptr) ++block.slab->used;
  }
  buffer.data_ = block.data != nullptr ? block.data : allocate_block(buffer.capacity_);
  buffer.slab_ = block.slab;
  buffer.pool_ = shared_from_this();
  return buffer;
}

/// Maps a slab, leaves all of its blocks but one idle and returns that one.
BufferPool::Block BufferPool::make_slab(size_t capacity) {
  const size_t blocks = blocks_per_slab(capacity);
  const size_t bytes = slab_bytes(capacity, blocks);
  auto* slab = new Slab;
  // Room to align to a huge page, and a page to read into behind the last block.
  slab->mapping_bytes = bytes + kHugePageBytes + 4096;
  slab->blocks = blocks;
  try {
    slab->mapping = map(slab->mapping_bytes);
  } catch (...) {
    delete slab;
    throw;
  }
  const auto address = reinterpret_cast<uintptr_t>(slab->mapping);
  uint8_t* first = slab->mapping + (kHugePageBytes - address % kHugePageBytes) % kHugePageBytes;
  madvise(first, bytes, MADV_HUGEPAGE);
  for (size_t i = 1; i < blocks; ++i) idle_[capacity].push_back({first + i * capacity, slab});
  idle_bytes_ += (blocks - 1) * capacity;
  return {first, slab};
}

void BufferPool::put_back(Block block, size_t capacity) {
  {
    std::lock_guard lock(mutex_);
    if (block.slab != nullptr) {
      idle_[capacity].push_back(block);
      idle_bytes_ += capacity;
      if (--block.slab->used == 0 && idle_bytes_ > max_idle_bytes_) free_slab(block.slab, capacity);
      return;
    }
    if (idle_bytes_ + capacity <= max_idle_bytes_) {
      idle_[capacity].push_back(block);
      idle_bytes_ += capacity;
      return;
    }
  }
  free_block(block.data, capacity);
}

/// All blocks of the slab are idle.
void BufferPool::free_slab(Slab* slab, size_t capacity) {
  std::erase_if(idle_[capacity], [&](const Block& block) { return block.slab == slab; });
  idle_bytes_ -= slab->blocks * capacity;
  munmap(slab->mapping, slab->mapping_bytes);
  delete slab;
}

void BufferPool::trim(size_t keep_bytes) {
  std::lock_guard lock(mutex_);
  for (auto entry = idle_.rbegin(); entry != idle_.rend() && idle_bytes_ > keep_bytes; ++entry) {
    std::vector<Block>& blocks = entry->second;
    for (size_t i = blocks.size(); i-- > 0 && idle_bytes_ > keep_bytes;) {
      i = std::min(i, blocks.size() - 1);  // a slab takes several blocks along
      if (blocks[i].slab == nullptr) {
        free_block(blocks[i].data, entry->first);
        blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(i));
        idle_bytes_ -= entry->first;
      } else if (blocks[i].slab->used == 0) {
        free_slab(blocks[i].slab, entry->first);
        if (blocks.empty()) break;
      }
    }
  }
}

size_t BufferPool::idle_bytes() const {
  std::lock_guard lock(mutex_);
  return idle_bytes_;
}

}  // namespace yoload
