// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/own_jpeg.h"

#include <algorithm>

#include "decode/jpeg/jpeg_scale.h"

namespace yoload::decode::jpeg {

bool OwnJpeg::begin(Job& job) {
  const int channels = job.options.channels;
  if (channels != 1 && channels != 3) return false;
  if (!stream_->begin(job.bytes)) return false;
  const Frame& frame = stream_->frame();
  // Two readers of one header: where they do not agree, the file is not regular.
  if (frame.width_px != job.stored_width_px() || frame.height_px != job.stored_height_px())
    return false;
  const int shrink =
      jpeg_shrink(job.out.info.width_px, job.out.info.height_px, job.min_long_side_px);
  if (!PixelRows::supports(frame, shrink)) return false;
  const auto shrunk = [shrink](int size_px) { return (size_px + shrink - 1) / shrink; };
  // At least what libjpeg-turbo would be counted with, so that this decoder takes nothing that the
  // memory limit keeps from the other.
  const size_t library_bytes = jpeg_working_bytes(shrunk(frame.width_px));
  const size_t own_bytes = stream_->memory_bytes() + PixelRows::memory_bytes(frame, shrink);
  const Status granted = job.begin_picture(shrunk(frame.width_px), shrunk(frame.height_px),
                                           channels, std::max(library_bytes, own_bytes));
  if (!granted.ok()) return false;
  pixels_.begin(frame, &job.sink, shrink);
  job_ = &job;
  state_ = State::running;
  return true;
}

void OwnJpeg::take_rows() {
  if (stream_->state() == CoefficientStream::State::row_ready) {
    if (job_->deadline.passed()) {  // the other decoder gets a time of its own, and says so
      state_ = State::gave_up;
      return;
    }
    pixels_.add_mcu_row(stream_->row());
    stream_->release_row();
  }
  if (stream_->state() == CoefficientStream::State::done) {
    pixels_.finish();
    job_->out.own_jpeg = true;
    state_ = State::finished;
  } else if (stream_->state() == CoefficientStream::State::failed) {
    state_ = State::gave_up;
  }
}

void OwnJpeg::forget_large() {
  constexpr size_t kKeptBytes = size_t{4} << 20;
  if (stream_->memory_bytes() > kKeptBytes) stream_ = std::make_unique<CoefficientStream>();
}

void advance(std::span<OwnJpeg* const> pictures) {
  std::array<CoefficientStream*, Decoder::kTogether> streams{};
  for (size_t i = 0; i < pictures.size(); ++i) streams[i] = pictures[i]->stream_.get();
  const std::span<CoefficientStream* const> running(streams.data(), pictures.size());
  for (bool ended = false; !ended;) {
    advance(running);
    for (OwnJpeg* picture : pictures) {
      picture->take_rows();
      ended = ended || picture->state_ != OwnJpeg::State::running;
    }
  }
}

}  // namespace yoload::decode::jpeg
