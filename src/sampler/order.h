// The order of an epoch as a pure function: position -> record in O(1), without a permutation in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/partner_window.h"

namespace yoload {

/// A keyed bijection of [0, images): a six-round Feistel network over the next even power of two, with
/// cycle walking (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). Immutable.
class EpochOrder {
 public:
  /// Without `shuffle` the order is the identity.
  EpochOrder(uint64_t images, uint64_t seed, uint32_t epoch, bool shuffle);
  uint32_t record_at(uint64_t position) const;

 private:
  static constexpr int kRounds = 6;
  uint64_t images_;
  bool shuffle_;
  int half_bits_ = 1;
  std::array<uint32_t, kRounds> keys_{};
};

/// Canonical streams that an epoch's positions fall into (position mod 8), so that every world size that
/// divides 8 gives each rank whole streams.
inline constexpr uint32_t kStreams = 8;

/// Partners of `position`. Up to `window` images the whole set is one stream; else the last window / 8
/// positions of the same stream, `position` included, moved into the epoch at its start.
PartnerWindow partner_window(uint64_t position, uint64_t images, uint32_t window);

/// The record that stands in at `position` when `attempt` (1, 2, ...) earlier ones could not be read.
uint32_t replacement_record(uint64_t images, uint64_t seed, uint32_t epoch, uint64_t position,
                            uint32_t attempt);

}  // namespace yoload
