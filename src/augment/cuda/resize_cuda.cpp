// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/resize_cuda.h"

#include <algorithm>

#include "augment/cuda/resize_kernels.h"

namespace yoload {
namespace {

size_t narrowed_bytes(const FlatResize& job) {
  return Staging::room(static_cast<size_t>(job.channels) * static_cast<size_t>(job.height_px) *
                       static_cast<size_t>(job.to_width_px));
}

ResizeExtents extents_of(std::span<const FlatResize> jobs) {
  ResizeExtents extents;
  extents.jobs = static_cast<int>(jobs.size());
  for (const FlatResize& job : jobs) {
    extents.from_height_px = std::max(extents.from_height_px, job.height_px);
    extents.to_width_px = std::max(extents.to_width_px, job.to_width_px);
    extents.to_height_px = std::max(extents.to_height_px, job.to_height_px);
    extents.channels = std::max(extents.channels, job.channels);
  }
  return extents;
}

}  // namespace

CudaResizer::CudaResizer(const CudaResizeLimits& limits)
    : staging_(limits.batches_in_flight, limits.job_bytes) {
  if (limits.scratch_bytes > 0) scratch_ = device::DeviceBlock(limits.scratch_bytes);
}

void CudaResizer::resize(std::span<const ResizeJob> jobs, bool antialias, cudaStream_t stream) {
  if (jobs.empty()) return;
  jobs_.clear(), taps_.clear();
  for (const ResizeJob& job : jobs) {
    jobs_.push_back(flat_resize(job));
    if (!antialias) continue;
    FlatResize& flat = jobs_.back();
    flat.across_taps = taps_.add(flat.width_px, flat.to_width_px);
    flat.down_taps = taps_.add(flat.height_px, flat.to_height_px);
  }
  rounds_.assign(1, {0, jobs_.size()});
  if (antialias) place_narrowed();

  const std::span<const FlatResize> all(jobs_);
  staging_.begin(Staging::room(all.size_bytes()) + Staging::room(taps_.taps().size_bytes()) +
                 Staging::room(taps_.weights().size_bytes()));
  const FlatResize* on_device = staging_.put(all);
  const FlatTaps::Tap* taps = staging_.put(taps_.taps());
  const int32_t* weights = staging_.put(taps_.weights());
  staging_.upload(stream);
  if (antialias && scratch_used_) {
    // The batch before may be in another stream.
    device::check(cudaStreamWaitEvent(stream, scratch_passed_.get(), 0), "order scratch pictures");
  }
  for (const Round& round : rounds_) {
    const ResizeExtents extents = extents_of(all.subspan(round.first, round.count));
    if (antialias) {
      launch_antialiased(on_device + round.first, taps, weights, extents, stream);
    } else {
      launch_bilinear(on_device + round.first, extents, stream);
    }
  }
  if (antialias) scratch_passed_.record(stream), scratch_used_ = true;
  staging_.end(stream);
}

/// Gives every job a place in the scratch block, in as many rounds as that takes.
void CudaResizer::place_narrowed() {
  size_t largest = 0;
  for (const FlatResize& job : jobs_) largest = std::max(largest, narrowed_bytes(job));
  // Freeing the old block waits for the GPU, so nobody uses it any more.
  if (largest > scratch_.size()) scratch_ = device::DeviceBlock(largest);
  rounds_.assign(1, {});
  size_t used = 0;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const size_t wanted = narrowed_bytes(jobs_[i]);
    if (used + wanted > scratch_.size()) rounds_.push_back({i, 0}), used = 0;
    jobs_[i].narrowed = scratch_.data() + used;
    used += wanted;
    ++rounds_.back().count;
  }
}

}  // namespace yoload
