// One JPEG on its way from bytes to coefficients, a row of MCUs at a time, and the function that
// drives up to four of them at once in one thread.
//
// Gives: the coefficients that jpeg_read_coefficients gives, or `false`/`failed`. Does not give: a
// verdict on damaged or unusual files; libjpeg-turbo has that (jpeg_decoder.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "decode/jpeg/entropy_lane.h"
#include "decode/jpeg/frame.h"
#include "decode/jpeg/huffman_table.h"
#include "decode/jpeg/scan_header.h"
#include "decode/jpeg/unstuff.h"

namespace yoload::decode::jpeg {

/// Streams that advance() runs at once; two is the fastest number on Zen 3.
inline constexpr size_t kMostLanes = 4;

class CoefficientStream {
 public:
  enum class State : uint8_t { running, row_ready, done, failed };

  CoefficientStream() = default;
  CoefficientStream(const CoefficientStream&) = delete;  // the lane points into the stream
  CoefficientStream& operator=(const CoefficientStream&) = delete;

  /// Starts with another picture; buffers and equal Huffman tables are kept. False: not ours. The
  /// bytes are not needed afterwards.
  bool begin(std::span<const uint8_t> bytes);

  const Frame& frame() const { return header_.frame; }
  State state() const { return state_; }

  /// Valid from row_ready until release_row().
  McuRow row() const;
  /// Back to running, or to done behind the last row. The last row is ready only if the data ended
  /// exactly where it should, so done means that the whole picture was regular.
  void release_row();

  /// What the stream keeps from picture to picture, itself included.
  size_t memory_bytes() const;

 private:
  friend void advance(std::span<CoefficientStream* const> streams, bool portable);

  struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
  };
  void lay_out_row();
  void start_row();
  void take_state();

  ScanHeader header_;
  State state_ = State::failed;
  Lane lane_;
  CodedData coded_;
  std::array<HuffmanTable, 4> dc_tables_, ac_tables_;
  std::unique_ptr<int16_t[], FreeDeleter> blocks_;  // of all components, one behind the other
  size_t blocks_capacity_ = 0;
  std::vector<uint8_t> last_;
  std::array<size_t, 3> first_block_{};
};

/// Decodes until at least one of the running streams has a row ready or has failed; at most four
/// may be running. Streams in other states are left alone. `portable` is for tests.
void advance(std::span<CoefficientStream* const> streams, bool portable = false);

}  // namespace yoload::decode::jpeg
