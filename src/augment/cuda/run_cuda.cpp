// SPDX-License-Identifier: Apache-2.0
#include "augment/cuda/run_cuda.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "augment/cuda/render_kernels.h"
#include "core/render_target.h"

namespace yoload {
namespace {

void check_sizes(std::span<const DeviceSample> samples, const DeviceTarget& target) {
  for (const DeviceSample& sample : samples) {
    const SamplePlan& plan = *sample.plan;
    if (plan.out_width_px != target.width_px || plan.out_height_px != target.height_px) {
      throw std::invalid_argument("a plan of " + std::to_string(plan.out_width_px) + " x " +
                                  std::to_string(plan.out_height_px) + " px in a batch of " +
                                  std::to_string(target.width_px) + " x " +
                                  std::to_string(target.height_px));
    }
  }
}

}  // namespace

CudaRenderer::CudaRenderer(const CudaRenderLimits& limits)
    : staging_(limits.batches_in_flight, limits.plan_bytes),
      scratch_(limits.scratch_bytes),
      lab_(sizeof(LabTables)) {
  device::check(cudaMemcpy(lab_.data(), &lab_tables(), sizeof(LabTables), cudaMemcpyHostToDevice),
                "upload colour tables");
}

void CudaRenderer::render(std::span<const DeviceSample> samples, const DeviceTarget& target,
                          cudaStream_t stream) {
  if (samples.empty()) return;
  check_sizes(samples, target);
  grow_scratch(samples, target.channels);
  FlatOutput output;
  output.dtype = target.dtype, output.format = target.format;
  std::copy(target.mul.begin(), target.mul.end(), output.mul);
  std::copy(target.add.begin(), target.add.end(), output.add);
  const size_t sample_bytes = static_cast<size_t>(target.width_px) *
                              static_cast<size_t>(target.height_px) *
                              static_cast<size_t>(target.channels) * bytes_of(target.dtype);
  batch_.begin(output, scratch_.data(), scratch_.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    batch_.add(*samples[i].plan, samples[i].tiles, target.channels,
               static_cast<uint8_t*>(target.data) + i * sample_bytes);
  }
  batch_.finish();
  launch(output, stream);
}

void CudaRenderer::grow_scratch(std::span<const DeviceSample> samples, int channels) {
  size_t wanted = 0;
  for (const DeviceSample& sample : samples) {
    wanted = std::max(wanted, FlatBatch::scratch_bytes(*sample.plan, channels));
  }
  // Freeing the old block waits for the GPU, so nobody uses it any more.
  if (wanted > scratch_.size()) scratch_ = device::DeviceBlock(wanted);
}

void CudaRenderer::launch(const FlatOutput& output, cudaStream_t stream) {
  static constexpr uint8_t kPad[] = {kPadValue};
  staging_.begin(Staging::room(batch_.samples().size_bytes()) +
                 Staging::room(batch_.tiles().size_bytes()) +
                 Staging::room(batch_.masks().size_bytes()) + Staging::room(sizeof kPad));
  const FlatSample* samples = staging_.put(batch_.samples());
  flat::FlatArrays arrays;
  arrays.tiles = staging_.put(batch_.tiles());
  arrays.masks = staging_.put(batch_.masks());
  arrays.pad = staging_.put(std::span<const uint8_t>(kPad));
  staging_.upload(stream);

  const auto in_scratch = [](const FlatStep& step) { return step.into_scratch; };
  const bool scratched = std::any_of(batch_.steps().begin(), batch_.steps().end(), in_scratch);
  if (scratched && scratch_used_) {
    // The batch before may be in another stream.
    device::check(cudaStreamWaitEvent(stream, scratch_passed_.get(), 0), "order scratch pictures");
  }
  for (const FlatStep& step : batch_.steps()) {
    const auto first = static_cast<size_t>(step.first);
    switch (step.kind) {
      case FlatStep::Kind::render:
        launch_render(step, samples, arrays, step.into_scratch ? FlatOutput{} : output, stream);
        break;
      case FlatStep::Kind::paste:
        launch_paste(batch_.pastes()[first], arrays.masks, stream);
        break;
      case FlatStep::Kind::filter:
        launch_filter(batch_.filters()[first], reinterpret_cast<const LabTables*>(lab_.data()),
                      stream);
        break;
    }
  }
  if (scratched) scratch_passed_.record(stream), scratch_used_ = true;
  staging_.end(stream);
}

}  // namespace yoload
