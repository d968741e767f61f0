// Random numbers for drawings: the same on every machine and library, unlike std::*_distribution.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace yoload::cli {

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
/// Good enough for pictures; samples of the loader come from core/philox.h.
class Dice {
 public:
  explicit Dice(uint64_t seed, uint64_t stream = 0)
      : state_(seed * 0x9E3779B97F4A7C15u ^ (stream << 32)) {
    bits();
  }

  uint64_t bits() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [low, high).
  float range(float low, float high) {
    return low + (high - low) * static_cast<float>(bits() >> 40) * 0x1.0p-24f;
  }
  /// Uniform integer in [low, high].
  int pick(int low, int high) {
    return low + static_cast<int>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(float probability) { return range(0, 1) < probability; }

 private:
  uint64_t state_;
};

}  // namespace yoload::cli
