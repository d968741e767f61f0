// One picture on its way through our own JPEG decoder, from the file's bytes into a job's picture.
//
// Takes perfectly regular baseline and extended-sequential files. Whatever it does not take, or
// gives up in the middle, is for decode_jpeg() to decode from the start: this class never says why,
// because only libjpeg-turbo's verdict counts. So verdicts are the same with and without it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "decode/job.h"
#include "decode/jpeg/coefficient_stream.h"
#include "decode/jpeg/pixel_rows.h"

namespace yoload::decode::jpeg {

/// Not thread-safe; reused from picture to picture.
class OwnJpeg {
 public:
  enum class State { running, finished, gave_up };

  /// False: not a file for this decoder. `job` must outlive the decode and may have a new picture.
  bool begin(Job& job);
  State state() const { return state_; }
  /// Frees what is as large as a picture.
  void forget_large();

 private:
  friend void advance(std::span<OwnJpeg* const> pictures);
  void take_rows();

  std::unique_ptr<CoefficientStream> stream_ = std::make_unique<CoefficientStream>();
  PixelRows pixels_;
  Job* job_ = nullptr;
  State state_ = State::gave_up;
};

/// Decodes until at least one of the pictures, all running and at most Decoder::kTogether, has
/// finished or given up. While the bits of one wait for a table look-up, those of the others are
/// worked on.
void advance(std::span<OwnJpeg* const> pictures);

}  // namespace yoload::decode::jpeg
