// SPDX-License-Identifier: Apache-2.0
#include "decode/cuda/nvjpeg_session.h"

namespace yoload::decode {

NvjpegSession::NvjpegSession(const NvjpegLibrary& library, nvjpeg::Backend backend, unsigned flags)
    : library_(library), handle_(nullptr, library.api.Destroy) {
  nvjpeg::Handle handle = nullptr;
  nvjpeg::check(
      api().CreateExV2(backend, device_memory_.allocator(), pinned_memory_.allocator(), flags,
                       &handle),
      backend == nvjpeg::Backend::hardware ? "open the JPEG engines" : "open the library");
  handle_.reset(handle);
}

nvjpeg::Owned<nvjpeg::State> NvjpegSession::make_state() const {
  nvjpeg::State state = nullptr;
  nvjpeg::check(api().JpegStateCreate(handle(), &state), "make a decoder state");
  return {state, api().JpegStateDestroy};
}

void NvjpegSession::close_memory() {
  device_memory_.close();
  pinned_memory_.close();
}

nvjpeg::Planes planes_of(const MutableImageView& to) {
  nvjpeg::Planes planes{};
  for (int c = 0; c < to.channels && c < nvjpeg::kMostComponents; ++c) {
    planes.channel[c] = to.row(c, 0);
    planes.pitch[c] = to.row_stride_bytes;
  }
  return planes;
}

}  // namespace yoload::decode
