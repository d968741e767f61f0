// SPDX-License-Identifier: Apache-2.0
#include "sampler/order.h"

#include <algorithm>
#include <bit>

#include "core/philox.h"

namespace yoload {
namespace {

/// A full-avalanche mix of 32 bits (constants: C. Wellons' hash prospector, lowest bias found).
uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x *= 0xd35a2d97u;
  return x ^ (x >> 15);
}

}  // namespace

EpochOrder::EpochOrder(uint64_t images, uint64_t seed, uint32_t epoch, bool shuffle)
    : images_(images), shuffle_(shuffle) {
  const int bits = std::bit_width(std::max<uint64_t>(images, 2) - 1);
  half_bits_ = (bits + 1) / 2;
  Draws draws(seed, epoch, 0, DrawStream::shuffle);
  for (uint32_t& key : keys_) key = draws.u32();
}

uint32_t EpochOrder::record_at(uint64_t position) const {
  if (!shuffle_) return static_cast<uint32_t>(position);
  const uint32_t mask = (uint32_t{1} << half_bits_) - 1;
  uint64_t value = position;
  do {  // walks the cycle until it is back inside: under four steps on average, always ends
    auto left = static_cast<uint32_t>(value >> half_bits_);
    auto right = static_cast<uint32_t>(value) & mask;
    for (const uint32_t key : keys_) {
      const uint32_t next = left ^ (mix(right ^ key) & mask);
      left = right;
      right = next;
    }
    value = (static_cast<uint64_t>(left) << half_bits_) | right;
  } while (value >= images_);
  return static_cast<uint32_t>(value);
}

PartnerWindow partner_window(uint64_t position, uint64_t images, uint32_t window) {
  if (images <= window) return {0, static_cast<uint32_t>(images), 1};
  const uint32_t count = std::max(1u, window / kStreams);
  const uint64_t stream = position % kStreams;
  const uint64_t index = position / kStreams;
  const uint64_t first = index + 1 > count ? index + 1 - count : 0;
  return {first * kStreams + stream, count, kStreams};
}

uint32_t replacement_record(uint64_t images, uint64_t seed, uint32_t epoch, uint64_t position,
                            uint32_t attempt) {
  Draws draws(seed, epoch, position, DrawStream::replacement);
  uint32_t record = 0;
  for (uint32_t i = 0; i < attempt; ++i) record = draws.below(static_cast<uint32_t>(images));
  return record;
}

}  // namespace yoload
