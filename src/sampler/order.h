// The order of an epoch: which record stands at a position, and where its partners come from.
//
// Everything here is a pure function of (seed, epoch, position): resuming in the middle of an epoch
// replays nothing, and every thread or rank computes the same order without talking.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/partner_window.h"

namespace yoload {

/// Positions fall into this many streams (position mod 8); partners stay inside a stream, so any
/// world size that divides 8 gives a rank whole streams and still one decode a sample.
inline constexpr uint32_t kOrderStreams = 8;

/// position -> record, O(1). Safe to share between threads, cheap to copy.
class EpochOrder {
 public:
  /// `images` must be 1 .. 2^32. Without shuffle, record == position.
  EpochOrder(uint64_t images, uint64_t seed, uint32_t epoch, bool shuffle);

  /// Positions at or past `images` wrap around.
  uint32_t record_at(uint64_t position) const;

 private:
  uint32_t permute_once(uint32_t value) const;

  uint64_t images_;
  uint64_t seed_;
  uint32_t epoch_;
  bool shuffle_;
  int low_bits_ = 0, high_bits_ = 0;
  std::vector<uint32_t> table_;  // images_ long, for small data sets only; see Note [Small sets]
};

/// Partners of `position`: the trailing window / 8 positions of its stream, moved forward where the
/// epoch's start would cut it; the whole set where it has fewer images than `window`.
PartnerWindow partner_window(uint64_t position, uint64_t images, uint32_t window);

/// Record that takes the place of one that could not be decoded: uniform over the set, independent
/// of the order. `attempt` counts from 0 and must stay small (cost grows with it).
uint32_t replacement_record(uint64_t images, uint64_t seed, uint32_t epoch, uint64_t position,
                            uint32_t attempt);

}  // namespace yoload
