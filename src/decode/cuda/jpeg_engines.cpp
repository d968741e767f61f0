// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/jpeg_engines.h"

#include <algorithm>

#include "device/cuda/check.h"
#include "device/cuda/device_guard.h"
#include "yoload/error.h"

namespace yoload::decode {

Result<std::unique_ptr<JpegEngines>> JpegEngines::create(int device, const EngineOptions& options) {
  const auto library = nvjpeg_library();
  if (!library.ok()) return library.status();
  try {
    const device::DeviceGuard guard(device);
    return std::unique_ptr<JpegEngines>(new JpegEngines(**library, device, options));
  } catch (const Error& error) {
    return Status(Code::unsupported, Stage::decode, error.what());
  }
}

JpegEngines::JpegEngines(const NvjpegLibrary& library, int device, const EngineOptions& options)
    : device_(device),
      options_(options),
      session_(library, nvjpeg::Backend::hardware, options.flags) {
  for (int i = 0; i < options.states; ++i) lanes_.emplace_back(session_.make_state());
  unsigned engines = 0, cores = 0;
  if (session_.api().GetHardwareDecoderInfo != nullptr) {
    session_.api().GetHardwareDecoderInfo(session_.handle(), &engines, &cores);
  }
  engines_ = static_cast<int>(engines);
  const auto most = static_cast<size_t>(options.max_batch);
  data_.reserve(most);
  lengths_.reserve(most);
  planes_.reserve(most);
}

JpegEngines::~JpegEngines() {
  for (const Lane& lane : lanes_) {
    if (lane.used) cudaEventSynchronize(lane.done.get());
  }
  session_.close_memory();
}

void JpegEngines::decode(std::span<DeviceJpegJob> jobs, cudaStream_t stream) {
  const device::DeviceGuard guard(device_);
  // A batch has one output format.
  for (const int channels : {3, 1}) {
    selected_.clear();
    for (DeviceJpegJob& job : jobs) {
      if (job.to.channels == channels) selected_.push_back(&job);
    }
    std::span<DeviceJpegJob* const> left = selected_;
    while (!left.empty()) {
      const size_t chunk = std::min(left.size(), static_cast<size_t>(options_.max_batch));
      decode_chunk(left.first(chunk), stream);
      left = left.subspan(chunk);
    }
  }
}

// The states take turns. One that is still at work is waited for by the CPU: the library fills its
// page-locked buffers during the call.
JpegEngines::Lane& JpegEngines::next_lane() {
  Lane& lane = lanes_[next_];
  next_ = (next_ + 1) % lanes_.size();
  if (lane.used && !lane.done.done()) lane.done.synchronise();
  return lane;
}

void JpegEngines::decode_chunk(std::span<DeviceJpegJob* const> jobs, cudaStream_t stream) {
  Lane& lane = next_lane();
  decode_or_split(lane, jobs, stream);
  lane.used = true;
  lane.done.record(stream);
}

void JpegEngines::decode_or_split(Lane& lane, std::span<DeviceJpegJob* const> jobs,
                                  cudaStream_t stream) {
  const nvjpeg::Code code = run(lane, jobs, stream);
  if (code == nvjpeg::Code::success) {
    for (DeviceJpegJob* job : jobs) job->status = Status();
    return;
  }
  // Whatever the call began must be over before its buffers are used again. Throws where not this
  // batch but the GPU has failed: then there is nothing left to try.
  device::call_counts().synchronisations.fetch_add(1, std::memory_order_relaxed);
  device::check(cudaStreamSynchronize(stream), "decode JPEGs");
  cudaGetLastError();
  lane.batch = 0;  // set up again, which also resets a failed state
  if (jobs.size() == 1) {
    jobs[0]->status = nvjpeg::status_of(code, "decode on the JPEG engines");
    return;
  }
  // The two halves share the lane: work in one stream and with one state runs in order, but the
  // library's page-locked buffers are filled during the call.
  const size_t half = jobs.size() / 2;
  decode_or_split(lane, jobs.first(half), stream);
  device::check(cudaStreamSynchronize(stream), "decode JPEGs");
  decode_or_split(lane, jobs.subspan(half), stream);
}

nvjpeg::Code JpegEngines::run(Lane& lane, std::span<DeviceJpegJob* const> jobs,
                              cudaStream_t stream) {
  const nvjpeg::Api& api = session_.api();
  const int batch = static_cast<int>(jobs.size());
  const nvjpeg::Output output = output_for(jobs[0]->to.channels);
  if (lane.batch != batch || lane.output != output) {
    const nvjpeg::Code code = api.DecodeBatchedInitialize(session_.handle(), lane.state.get(),
                                                          batch, /*cpu_threads=*/1, output);
    if (code != nvjpeg::Code::success) return code;
    lane.batch = batch;
    lane.output = output;
  }
  data_.clear();
  lengths_.clear();
  planes_.clear();
  for (const DeviceJpegJob* job : jobs) {
    data_.push_back(job->bytes.data());
    lengths_.push_back(job->bytes.size());
    planes_.push_back(planes_of(job->to));
  }
  return api.DecodeBatched(session_.handle(), lane.state.get(), data_.data(), lengths_.data(),
                           planes_.data(), stream);
}

}  // namespace yoload::decode
