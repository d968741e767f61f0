// Memory that the GPU works on, in size classes carved from slabs. A block comes back as soon as
// the CPU is done with it, together with the point of GPU work after which it may be written again.
//
// Note [Reuse without waiting]. Blocks are handed out in the order in which they came back, and a
// block whose point has not passed is left alone while the pool may still grow: after a while
// enough of them are in circulation, and nobody waits. At the limit, device memory is handed out
// all the same and the stream that writes it waits on the GPU; host memory is not, because there
// the CPU would have to.
//
// Note [Slabs]. Allocating device memory stops the GPU, so slabs are never given back while the
// pool lives; a slab whose blocks are all idle may serve another size class.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "device/cuda/memory.h"
#include "device/cuda/timeline.h"

namespace yoload::device {

/// `Slab` is DeviceBlock or PinnedBlock. Thread-safe.
template <class Slab>
class WorkPool : public std::enable_shared_from_this<WorkPool<Slab>> {
  struct Carved;  // a slab and what it is cut into

 public:
  /// A block on loan. Move-only; goes back to the pool when destroyed.
  class Block {
   public:
    Block() = default;
    ~Block() { reset(); }
    Block(Block&& other) noexcept { swap(other); }
    Block& operator=(Block&& other) noexcept {
      swap(other);
      return *this;
    }
    uint8_t* data() const { return data_; }
    size_t capacity() const { return capacity_; }
    explicit operator bool() const { return data_ != nullptr; }
    /// What a stream that writes here has to wait for first.
    Ticket free_from() const { return free_from_; }
    /// The GPU uses the block until this point; the point given last counts.
    void used_until(Ticket ticket) { used_until_ = ticket; }

   private:
    friend class WorkPool;
    void reset() {
      if (data_ != nullptr) pool_->put_back(*this);
      data_ = nullptr;
      pool_.reset();
    }
    void swap(Block& other) noexcept {
      std::swap(data_, other.data_);
      std::swap(capacity_, other.capacity_);
      std::swap(free_from_, other.free_from_);
      std::swap(used_until_, other.used_until_);
      std::swap(slab_, other.slab_);
      std::swap(pool_, other.pool_);
    }
    uint8_t* data_ = nullptr;
    size_t capacity_ = 0;
    Ticket free_from_ = 0, used_until_ = 0;
    Carved* slab_ = nullptr;
    std::shared_ptr<WorkPool> pool_;
  };

  static std::shared_ptr<WorkPool> create(size_t limit_bytes, std::shared_ptr<Timeline> timeline) {
    return std::shared_ptr<WorkPool>(new WorkPool(limit_bytes, std::move(timeline)));
  }

  /// A block of at least `bytes`, or none if the limit leaves no room. With `beyond` the limit does
  /// not count: for what a run cannot go on without.
  Block acquire(size_t bytes, bool beyond = false) {
    const size_t size = BufferPool::rounded_bytes(std::max<size_t>(bytes, 1));
    std::lock_guard lock(mutex_);
    std::deque<Idle>& idle = idle_[size];
    if (idle.empty() || !timeline_->passed(idle.front().free_from)) {
      if (!carve_idle_slab(size) && !grow(size, beyond) &&
          (idle.empty() || !kWritableWhilePending)) {
        if (!beyond) return {};
        grow(size, true);
      }
    }
    // What was carved just now stands in front.
    Block block;
    block.data_ = idle.front().data;
    block.capacity_ = size;
    block.free_from_ = idle.front().free_from;
    block.used_until_ = block.free_from_;
    block.slab_ = idle.front().slab;
    block.pool_ = this->shared_from_this();
    idle.pop_front();
    ++block.slab_->lent;
    lent_bytes_ += size;
    return block;
  }

  /// Bytes of the blocks on loan, and of all slabs.
  size_t lent_bytes() const { return locked(lent_bytes_); }
  size_t held_bytes() const { return locked(held_bytes_); }
  size_t limit_bytes() const { return limit_bytes_; }

 private:
  static constexpr bool kWritableWhilePending = std::is_same_v<Slab, DeviceBlock>;
  static constexpr size_t kSlabBytes = size_t{32} << 20;

  struct Carved {
    Slab memory;
    size_t block_bytes = 0;
    size_t lent = 0;
  };
  struct Idle {
    uint8_t* data = nullptr;
    Ticket free_from = 0;
    Carved* slab = nullptr;
  };

  WorkPool(size_t limit_bytes, std::shared_ptr<Timeline> timeline)
      : limit_bytes_(limit_bytes), timeline_(std::move(timeline)) {}

  size_t locked(const size_t& value) const {
    std::lock_guard lock(mutex_);
    return value;
  }

  void put_back(const Block& block) {
    std::lock_guard lock(mutex_);
    idle_[block.capacity_].push_back({block.data_, block.used_until_, block.slab_});
    --block.slab_->lent;
    lent_bytes_ -= block.capacity_;
  }

  bool grow(size_t size, bool beyond) {
    const size_t bytes = std::max(kSlabBytes, (size + 4095) / 4096 * 4096);
    // A small limit may not hold a whole slab.
    const size_t fits =
        beyond ? bytes : std::min(bytes, limit_bytes_ - std::min(limit_bytes_, held_bytes_));
    if (fits < size) return false;
    slabs_.push_back(std::make_unique<Carved>());
    slabs_.back()->memory = Slab(fits);
    held_bytes_ += fits;
    carve(slabs_.back().get(), size);
    return true;
  }

  /// Cuts a slab into blocks of `size` that nothing has to be waited for.
  void carve(Carved* slab, size_t size) {
    slab->block_bytes = size;
    std::deque<Idle>& idle = idle_[size];
    for (size_t at = 0; at + size <= slab->memory.size(); at += size) {
      idle.push_front({slab->memory.data() + at, 0, slab});
    }
  }

  /// Gives a slab that nobody uses, neither CPU nor GPU, to blocks of `size`.
  bool carve_idle_slab(size_t size) {
    for (const auto& slab : slabs_) {
      if (slab->lent > 0 || slab->block_bytes == size || slab->memory.size() < size) continue;
      std::deque<Idle>& own = idle_[slab->block_bytes];
      const auto is_own = [&](const Idle& block) { return block.slab == slab.get(); };
      if (!std::all_of(own.begin(), own.end(), [&](const Idle& block) {
            return !is_own(block) || timeline_->passed(block.free_from);
          })) {
        continue;
      }
      std::erase_if(own, is_own);
      carve(slab.get(), size);
      return true;
    }
    return false;
  }

  const size_t limit_bytes_;
  const std::shared_ptr<Timeline> timeline_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Carved>> slabs_;
  std::map<size_t, std::deque<Idle>> idle_;  ///< block size -> blocks, the longest idle first
  size_t lent_bytes_ = 0, held_bytes_ = 0;
};

using DevicePool = WorkPool<DeviceBlock>;
using PinnedPool = WorkPool<PinnedBlock>;

}  // namespace yoload::device
