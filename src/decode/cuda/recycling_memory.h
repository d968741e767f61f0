// Memory for nvJPEG that is kept and handed out again, so that steady state allocates nothing.
//
// nvJPEG asks for buffers that grow with the largest picture seen, and gives the smaller one back.
// Real allocations stop the GPU, so blocks are rounded up (they then serve the next few sizes too)
// and never returned before close(). Order: a released block is handed out again only when the GPU
// has passed its release, or, for device memory, to the stream that released it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "decode/cuda/nvjpeg_api.h"

namespace yoload::decode {

/// Of one kind, for one device, which must be current in every call. Thread-safe. Must outlive
/// every object of the library that got memory from it.
class RecyclingMemory {
 public:
  enum class Kind { device, pinned };

  explicit RecyclingMemory(Kind kind) : kind_(kind) {}
  ~RecyclingMemory() { close(); }
  RecyclingMemory(const RecyclingMemory&) = delete;
  RecyclingMemory& operator=(const RecyclingMemory&) = delete;

  /// What the library gets. Valid as long as this object.
  nvjpeg::Allocator* allocator() { return &allocator_; }

  /// Frees idle blocks, and every other at its release: before the library's objects are destroyed,
  /// whose streams may be gone by then.
  void close();

  uint64_t bytes() const;  ///< all blocks together

 private:
  struct Block {
    void* data = nullptr;
    size_t bytes = 0;
    bool in_use = true;
    cudaStream_t released_on = nullptr;
    cudaEvent_t released = nullptr;
  };

  int allocate(void** pointer, size_t bytes, cudaStream_t stream) noexcept;
  int release(void* pointer, cudaStream_t stream) noexcept;
  Block* find_idle(size_t bytes, cudaStream_t stream);
  cudaError_t allocate_block(size_t bytes, Block* block);
  void free_block(Block& block) noexcept;

  const Kind kind_;
  nvjpeg::Allocator allocator_{
      [](void* self, void** pointer, size_t bytes, cudaStream_t stream) {
        return static_cast<RecyclingMemory*>(self)->allocate(pointer, bytes, stream);
      },
      [](void* self, void* pointer, size_t, cudaStream_t stream) {
        return static_cast<RecyclingMemory*>(self)->release(pointer, stream);
      },
      this};
  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
  bool closed_ = false;
};

}  // namespace yoload::decode
