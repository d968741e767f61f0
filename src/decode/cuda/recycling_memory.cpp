// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/recycling_memory.h"

#include <algorithm>
#include <bit>

#include "device/cuda/call_counts.h"

namespace yoload::decode {
namespace {

constexpr size_t kSmallestBlockBytes = size_t{64} << 10;

// To the next of 4 steps between powers of two: at most 25 % more than was asked for, and a buffer
// that grows with the pictures is replaced a few times only.
size_t rounded(size_t bytes) {
  if (bytes <= kSmallestBlockBytes) return kSmallestBlockBytes;
  const size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

int RecyclingMemory::allocate(void** pointer, size_t bytes, cudaStream_t stream) noexcept {
  *pointer = nullptr;
  const std::lock_guard lock(mutex_);
  if (Block* idle = find_idle(bytes, stream)) {
    idle->in_use = true;
    *pointer = idle->data;
    return 0;
  }
  try {
    blocks_.reserve(blocks_.size() + 1);
  } catch (...) {
    return 1;
  }
  Block block;
  if (const cudaError_t code = allocate_block(rounded(bytes), &block); code != cudaSuccess) {
    cudaGetLastError();  // the context is still good; the library reports the failure
    return static_cast<int>(code);
  }
  *pointer = block.data;
  blocks_.push_back(block);
  return 0;
}

// The smallest that is large enough.
RecyclingMemory::Block* RecyclingMemory::find_idle(size_t bytes, cudaStream_t stream) {
  Block* best = nullptr;
  for (Block& block : blocks_) {
    if (block.in_use || block.bytes < bytes || (best != nullptr && best->bytes <= block.bytes)) {
      continue;
    }
    // Device memory is next touched by work behind its release in the same stream. Page-locked
    // memory is next touched by the CPU, at once.
    const bool in_order = kind_ == Kind::device && block.released_on == stream;
    if (in_order || cudaEventQuery(block.released) == cudaSuccess) {
      best = &block;
    } else {
      cudaGetLastError();  // "not ready" must not be found by the library's next launch check
    }
  }
  return best;
}

cudaError_t RecyclingMemory::allocate_block(size_t bytes, Block* block) {
  auto& counts = device::call_counts();
  auto& counter = kind_ == Kind::device ? counts.device_allocations : counts.pinned_allocations;
  counter.fetch_add(1, std::memory_order_relaxed);
  cudaError_t code = cudaEventCreateWithFlags(&block->released, cudaEventDisableTiming);
  if (code != cudaSuccess) return code;
  code = kind_ == Kind::device ? cudaMalloc(&block->data, bytes)
                               : cudaHostAlloc(&block->data, bytes, cudaHostAllocPortable);
  if (code != cudaSuccess) cudaEventDestroy(block->released);
  block->bytes = bytes;
  return code;
}

int RecyclingMemory::release(void* pointer, cudaStream_t stream) noexcept {
  if (pointer == nullptr) return 0;
  const std::lock_guard lock(mutex_);
  const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const Block& b) { return b.data == pointer; });
  if (block == blocks_.end()) return 1;
  if (closed_) {
    free_block(*block);
    blocks_.erase(block);
    return 0;
  }
  if (stream == nullptr) {
    // No stream, no order: our streams do not wait for the default one.
    device::call_counts().synchronisations.fetch_add(1, std::memory_order_relaxed);
    cudaDeviceSynchronize();
  }
  block->in_use = false;
  block->released_on = stream;
  return static_cast<int>(cudaEventRecord(block->released, stream));
}

void RecyclingMemory::free_block(Block& block) noexcept {
  if (kind_ == Kind::device) {
    cudaFree(block.data);  // waits for the work that uses it
  } else {
    cudaFreeHost(block.data);
  }
  cudaEventDestroy(block.released);
}

void RecyclingMemory::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::erase_if(blocks_, [&](Block& block) {
    if (block.in_use) return false;
    free_block(block);
    return true;
  });
}

uint64_t RecyclingMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = 0;
  for (const Block& block : blocks_) sum += block.bytes;
  return sum;
}

}  // namespace yoload::decode
