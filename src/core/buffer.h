// Aligned byte buffers that are recycled instead of freed: a page fault per 4 KB costs more than a
// blend. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace yoload {

class BufferPool;
struct Slab;

/// Start alignment of every buffer, and the bytes that may be read (not written) past its size, so
/// that vector code needs no scalar tail for loads.
inline constexpr size_t kBufferAlignment = 64;
inline constexpr size_t kReadPadding = 64;

/// Owns a block of bytes; goes back to its pool, or is freed, when destroyed. Move-only.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      swap(other);
    }
    return *this;
  }

  /// A block straight from the allocator, tied to no pool. Throws std::bad_alloc.
  static Buffer allocate(size_t bytes);

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  explicit operator bool() const { return data_ != nullptr; }
  /// Makes size() smaller; the block stays as it is.
  void shrink(size_t bytes) { size_ = bytes < size_ ? bytes : size_; }
  void reset();

 private:
  friend class BufferPool;
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(slab_, other.slab_);
    std::swap(pool_, other.pool_);
  }
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  Slab* slab_ = nullptr;  ///< of the pool, or null for a block of its own
  std::shared_ptr<BufferPool> pool_;
};

/// Recycles buffers by size class (eight classes per power of two, so at most 12.5 % is wasted).
/// Thread-safe. It does not limit what is handed out: MemoryBudget does that. It does bound what
/// lies idle: `max_idle_bytes`; beyond it returned blocks go to the system.
///
/// Note [Slabs]. Pictures of about a megabyte touch some 200 pages each, and on a virtual machine
/// the page walks cost a few per cent of the whole pipeline. A pool with slabs carves blocks of a
/// class from pieces of a few megabytes that the kernel may back with huge pages (842 instead of
/// 818 images/s). A slab goes back to the system only as a whole: each class can hold on to one
/// slab more than it needs, so this is for large budgets.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  static std::shared_ptr<BufferPool> create(size_t max_idle_bytes, bool slabs = false);
  ~BufferPool();

  /// A buffer of at least `bytes`, with unspecified content. Throws std::bad_alloc.
  Buffer acquire(size_t bytes);
  /// Frees idle blocks until at most `keep_bytes` lie idle, as far as slabs allow.
  void trim(size_t keep_bytes);
  size_t idle_bytes() const;

  /// The block size that a request of `bytes` really occupies.
  static size_t rounded_bytes(size_t bytes);

 private:
  friend class Buffer;
  struct Block {
    uint8_t* data = nullptr;
    Slab* slab = nullptr;
  };

  BufferPool(size_t max_idle_bytes, bool slabs) : max_idle_bytes_(max_idle_bytes), slabs_(slabs) {}
  void put_back(Block block, size_t capacity);
  Block make_slab(size_t capacity);
  void free_slab(Slab* slab, size_t capacity);

  const size_t max_idle_bytes_;
  const bool slabs_;
  mutable std::mutex mutex_;
  std::map<size_t, std::vector<Block>> idle_;  // capacity -> blocks
  size_t idle_bytes_ = 0;
};

}  // namespace yoload
