// Batches of baseline JPEGs through the GPU's JPEG engines (NVJPG).
//
// Gives: the CPU decoder's pixels within one level, for files that engines_take() admits. Does not
// give: a verdict on broken coded data (jpeg/marker_scan.h). For what the engines refuse, and for
// GPUs without engines, there is JpegMultiprocessors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "decode/cuda/device_jpeg_job.h"
#include "decode/cuda/nvjpeg_session.h"
#include "device/cuda/stream.h"

namespace yoload::decode {

struct EngineOptions {
  int max_batch = 256;  ///< larger calls are split
  int states = 2;       ///< batches that may be in flight; each has buffers of its own
  unsigned flags = nvjpeg::kInterpolatedChroma;
};

/// One thread at a time.
class JpegEngines {
 public:
  /// `unsupported` where the GPU has no engines. Slow: some 100 ms.
  static Result<std::unique_ptr<JpegEngines>> create(int device, const EngineOptions& options = {});
  ~JpegEngines();

  /// Puts the decoding of all jobs into `stream`; sets every job's status before it returns. The
  /// pictures are there when the stream has passed. Waits for the GPU only where more than
  /// `states` calls are under way, and after a failure: then the batch is decoded in halves until
  /// only the failing pictures are left out. Streams must outlive this object's last call. Throws
  /// Error when the GPU itself fails.
  void decode(std::span<DeviceJpegJob> jobs, cudaStream_t stream);

  int engines() const { return engines_; }
  uint64_t device_bytes() const { return session_.device_memory().bytes(); }
  uint64_t pinned_bytes() const { return session_.pinned_memory().bytes(); }

 private:
  // What one batch needs until the GPU has passed it.
  struct Lane {
    explicit Lane(nvjpeg::Owned<nvjpeg::State> own) : state(std::move(own)) {}
    nvjpeg::Owned<nvjpeg::State> state;
    device::Event done;
    bool used = false;
    int batch = 0;  // that the state is set up for; 0: none
    nvjpeg::Output output = nvjpeg::Output::rgb;
  };

  JpegEngines(const NvjpegLibrary& library, int device, const EngineOptions& options);
  void decode_chunk(std::span<DeviceJpegJob* const> jobs, cudaStream_t stream);
  void decode_or_split(Lane& lane, std::span<DeviceJpegJob* const> jobs, cudaStream_t stream);
  nvjpeg::Code run(Lane& lane, std::span<DeviceJpegJob* const> jobs, cudaStream_t stream);
  Lane& next_lane();

  const int device_;
  const EngineOptions options_;
  mutable NvjpegSession session_;
  int engines_ = 0;
  std::vector<Lane> lanes_;
  size_t next_ = 0;
  // Of one call, kept for their capacity.
  std::vector<DeviceJpegJob*> selected_;
  std::vector<const unsigned char*> data_;
  std::vector<size_t> lengths_;
  std::vector<nvjpeg::Planes> planes_;
};

}  // namespace yoload::decode
