// A handle of nvJPEG together with the memory that it works in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/cuda/device_jpeg_job.h"
#include "decode/cuda/nvjpeg_library.h"
#include "decode/cuda/recycling_memory.h"

namespace yoload::decode {

/// Thread-safe, but for the objects that it makes: each of them belongs to one thread at a time.
class NvjpegSession {
 public:
  /// Throws Error, also where the GPU lacks what `backend` needs.
  NvjpegSession(const NvjpegLibrary& library, nvjpeg::Backend backend, unsigned flags);

  const nvjpeg::Api& api() const { return library_.api; }
  nvjpeg::Handle handle() const { return handle_.get(); }
  RecyclingMemory& device_memory() { return device_memory_; }
  RecyclingMemory& pinned_memory() { return pinned_memory_; }

  /// For the batched interface.
  nvjpeg::Owned<nvjpeg::State> make_state() const;

  /// To be called when the GPU has done all work, before objects of this session are destroyed.
  void close_memory();

 private:
  const NvjpegLibrary& library_;
  RecyclingMemory device_memory_{RecyclingMemory::Kind::device};
  RecyclingMemory pinned_memory_{RecyclingMemory::Kind::pinned};
  nvjpeg::Owned<nvjpeg::Handle> handle_;
};

/// The job's picture as nvJPEG wants it described.
nvjpeg::Planes planes_of(const MutableImageView& to);

/// What the library should write for a picture of so many channels.
inline nvjpeg::Output output_for(int channels) {
  return channels == 1 ? nvjpeg::Output::y : nvjpeg::Output::rgb;
}

}  // namespace yoload::decode
