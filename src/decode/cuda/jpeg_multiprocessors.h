// JPEGs through nvJPEG on the GPU's multiprocessors: progressive files, and everything where the
// GPU has no engines.
//
// Entropy decoding runs on the CPU, in the thread that calls; transform, chroma and colour run on
// the GPU. Gives: the CPU decoder's pixels within three levels, for files that
// multiprocessors_take() admits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "decode/cuda/device_jpeg_job.h"
#include "decode/cuda/nvjpeg_session.h"
#include "device/cuda/stream.h"

namespace yoload::decode {

struct MultiprocessorOptions {
  int workers = 1;
  int slots = 4;  ///< pictures of one worker that may be under way before it waits
  nvjpeg::Backend backend = nvjpeg::Backend::hybrid;
};

class JpegMultiprocessors {
 public:
  static Result<std::unique_ptr<JpegMultiprocessors>> create(
      int device, const MultiprocessorOptions& options = {});
  ~JpegMultiprocessors();

  /// Decodes the coded data, and puts the rest into `stream`; sets the job's status. Workers are
  /// numbered from 0 and independent; one of them is used by one thread at a time. Waits for the
  /// GPU only where it is `slots` pictures behind. Throws Error when the GPU itself fails.
  void decode(int worker, DeviceJpegJob* job, cudaStream_t stream);

  uint64_t device_bytes() const { return session_.device_memory().bytes(); }
  uint64_t pinned_bytes() const { return session_.pinned_memory().bytes(); }

 private:
  // What one picture needs until the GPU has passed it.
  struct Slot {
    Slot(NvjpegSession& session, nvjpeg::Decoder decoder);
    nvjpeg::Owned<nvjpeg::PinnedBuffer> pinned;
    nvjpeg::Owned<nvjpeg::DeviceBuffer> device;
    nvjpeg::Owned<nvjpeg::State> state;
    nvjpeg::Owned<nvjpeg::Stream> parsed;
    nvjpeg::Owned<nvjpeg::Params> params;
    device::Event done;
    bool used = false;
  };
  struct Worker {
    std::vector<Slot> slots;
    size_t next = 0;
  };

  JpegMultiprocessors(const NvjpegLibrary& library, int device,
                      const MultiprocessorOptions& options);
  nvjpeg::Code run(Slot& slot, const DeviceJpegJob& job, cudaStream_t stream);

  const int device_;
  mutable NvjpegSession session_;
  nvjpeg::Owned<nvjpeg::Decoder> decoder_;
  std::vector<Worker> workers_;
};

}  // namespace yoload::decode
