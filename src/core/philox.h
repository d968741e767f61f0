// Counter-based random numbers: every draw is a pure function of (seed, epoch, position,
// operation).
//
// Each operation owns a stream of its own, so adding an operation, or drawing more numbers in one,
// shifts no draw of another. Generator: Philox4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011) from Random123.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>

#include <cstdint>

namespace yoload {

/// Names of the random streams. Values are part of the plan format: append, never renumber.
enum class DrawStream : uint32_t {
  shuffle = 0,
  replacement = 1,
  mosaic = 2,
  perspective = 3,
  mixup = 4,
  cutmix = 5,
  copy_paste = 6,
  blur = 7,
  hsv = 8,
  flip = 9,
  bgr = 10,
  multi_scale = 11,
  mix_partner_mosaic = 12,  ///< the partner's own mosaic, for mixup
  mix_partner_perspective = 13,
  cutmix_partner_mosaic = 14,
  cutmix_partner_perspective = 15,
  classify = 16,
  mix_partner_copy_paste = 17,
  cutmix_partner_copy_paste = 18,
  paste_partner_mosaic = 19,  ///< copy-paste, mode mixup
  paste_partner_perspective = 20,
};

/// A sequence of draws for one operation of one sample. Cheap to make (no state is shared), not
/// thread-safe, copyable.
class Draws {
 public:
  Draws(uint64_t seed, uint32_t epoch, uint64_t position, DrawStream stream)
      : key_{{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}},
        epoch_(epoch),
        position_low_(static_cast<uint32_t>(position)),
        // 40 bits of position and 8 of stream share what the counter has left beside the block
        // number.
        stream_(static_cast<uint32_t>(stream) | (static_cast<uint32_t>(position >> 32) << 8)) {}

  /// Next 32 random bits.
  uint32_t u32() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  /// Uniform in [0, 1) with 53 random bits.
  double uniform() {
    const uint64_t high = u32() >> 5, low = u32() >> 6;
    return static_cast<double>((high << 26) | low) * 0x1.0p-53;
  }
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform integer in [0, bound), bound > 0, without modulo bias worth speaking of (64-bit
  /// multiply).
  uint32_t below(uint32_t bound) {
    const uint64_t bits = (static_cast<uint64_t>(u32()) << 32) | u32();
    return static_cast<uint32_t>((static_cast<unsigned __int128>(bits) * bound) >> 64);
  }

 private:
  void refill() {
    const r123::Philox4x32::ctr_type counter = {{block_number_++, position_low_, epoch_, stream_}};
    block_ = r123::Philox4x32{}(counter, key_);
    used_ = 0;
  }

  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type block_{};
  uint32_t epoch_;
  uint32_t position_low_;
  uint32_t stream_;
  uint32_t block_number_ = 0;
  unsigned used_ = 4;
};

}  // namespace yoload
