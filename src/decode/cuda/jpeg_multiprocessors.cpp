// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/jpeg_multiprocessors.h"

#include "device/cuda/check.h"
#include "device/cuda/device_guard.h"
#include "yoload/error.h"

namespace yoload::decode {
namespace {

// Calls one of the library's makers and takes what it made. `destroy` comes first so that T is
// known.
template <class T, class Make>
nvjpeg::Owned<T> own(nvjpeg::Code (*destroy)(T), const char* what, Make make) {
  T object = nullptr;
  nvjpeg::check(make(&object), what);
  return {object, destroy};
}

}  // namespace

JpegMultiprocessors::Slot::Slot(NvjpegSession& session, nvjpeg::Decoder decoder)
    : pinned(own(session.api().BufferPinnedDestroy, "make a page-locked buffer",
                 [&](nvjpeg::PinnedBuffer* made) {
                   return session.api().BufferPinnedCreateV2(
                       session.handle(), session.pinned_memory().allocator(), made);
                 })),
      device(own(session.api().BufferDeviceDestroy, "make a device buffer",
                 [&](nvjpeg::DeviceBuffer* made) {
                   return session.api().BufferDeviceCreateV2(
                       session.handle(), session.device_memory().allocator(), made);
                 })),
      state(own(session.api().JpegStateDestroy, "make a decoder state",
                [&](nvjpeg::State* made) {
                  return session.api().DecoderStateCreate(session.handle(), decoder, made);
                })),
      parsed(own(session.api().JpegStreamDestroy, "make a file parser",
                 [&](nvjpeg::Stream* made) {
                   return session.api().JpegStreamCreate(session.handle(), made);
                 })),
      params(own(session.api().DecodeParamsDestroy, "make decode parameters",
                 [&](nvjpeg::Params* made) {
                   return session.api().DecodeParamsCreate(session.handle(), made);
                 })) {
  nvjpeg::check(session.api().StateAttachPinnedBuffer(state.get(), pinned.get()),
                "attach a page-locked buffer");
  nvjpeg::check(session.api().StateAttachDeviceBuffer(state.get(), device.get()),
                "attach a device buffer");
}

Result<std::unique_ptr<JpegMultiprocessors>> JpegMultiprocessors::create(
    int device, const MultiprocessorOptions& options) {
  const auto library = nvjpeg_library();
  if (!library.ok()) return library.status();
  try {
    const device::DeviceGuard guard(device);
    return std::unique_ptr<JpegMultiprocessors>(
        new JpegMultiprocessors(**library, device, options));
  } catch (const Error& error) {
    return Status(Code::unsupported, Stage::decode, error.what());
  }
}

JpegMultiprocessors::JpegMultiprocessors(const NvjpegLibrary& library, int device,
                                         const MultiprocessorOptions& options)
    : device_(device),
      session_(library, nvjpeg::Backend::any, nvjpeg::kInterpolatedChroma),
      decoder_(own(library.api.DecoderDestroy, "make a decoder", [&](nvjpeg::Decoder* made) {
        return library.api.DecoderCreate(session_.handle(), options.backend, made);
      })) {
  workers_.resize(static_cast<size_t>(options.workers));
  for (Worker& worker : workers_) {
    worker.slots.reserve(static_cast<size_t>(options.slots));
    for (int i = 0; i < options.slots; ++i) worker.slots.emplace_back(session_, decoder_.get());
  }
}

JpegMultiprocessors::~JpegMultiprocessors() {
  for (const Worker& worker : workers_) {
    for (const Slot& slot : worker.slots) {
      if (slot.used) cudaEventSynchronize(slot.done.get());
    }
  }
  session_.close_memory();
}

void JpegMultiprocessors::decode(int worker_number, DeviceJpegJob* job, cudaStream_t stream) {
  const device::DeviceGuard guard(device_);
  Worker& worker = workers_[static_cast<size_t>(worker_number)];
  Slot& slot = worker.slots[worker.next];
  worker.next = (worker.next + 1) % worker.slots.size();
  if (slot.used && !slot.done.done()) slot.done.synchronise();
  job->status = nvjpeg::status_of(run(slot, *job, stream), "decode on the multiprocessors");
  slot.used = true;
  slot.done.record(stream);  // throws where not this picture but the GPU has failed
}

nvjpeg::Code JpegMultiprocessors::run(Slot& slot, const DeviceJpegJob& job, cudaStream_t stream) {
  const nvjpeg::Api& api = session_.api();
  const nvjpeg::Handle handle = session_.handle();
  const nvjpeg::Decoder decoder = decoder_.get();
  nvjpeg::Planes planes = planes_of(job.to);
  nvjpeg::Code code =
      api.JpegStreamParse(handle, job.bytes.data(), job.bytes.size(),
                          /*save_metadata=*/0, /*save_stream=*/0, slot.parsed.get());
  const auto then = [&](auto call, auto... arguments) {
    if (code == nvjpeg::Code::success) code = call(arguments...);
  };
  then(api.DecodeParamsSetOutputFormat, slot.params.get(), output_for(job.to.channels));
  then(api.DecodeJpegHost, handle, decoder, slot.state.get(), slot.params.get(), slot.parsed.get());
  then(api.DecodeJpegTransferToDevice, handle, decoder, slot.state.get(), slot.parsed.get(),
       stream);
  then(api.DecodeJpegDevice, handle, decoder, slot.state.get(), &planes, stream);
  return code;
}

}  // namespace yoload::decode
