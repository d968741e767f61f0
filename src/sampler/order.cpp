// SPDX-License-Identifier: Apache-2.0
#include "sampler/order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/philox.h"

namespace yoload {
namespace {

// Note [Small sets]. A Feistel network over very few bits reaches only a small part of all
// permutations (over 2 bits: 24 at best, unevenly). Up to this size a real Fisher-Yates table costs
// at most 16 KB and microseconds an epoch, and every permutation is equally likely.
constexpr uint64_t kTableImages = 4096;
// Four rounds are enough for a pseudo-random permutation (Luby and Rackoff 1988) with ideal round
// functions over wide halves; eight leave room for halves of 6 bits.
constexpr uint32_t kRounds = 8;

}  // namespace

EpochOrder::EpochOrder(uint64_t images, uint64_t seed, uint32_t epoch, bool shuffle)
    : images_(std::max<uint64_t>(images, 1)), seed_(seed), epoch_(epoch), shuffle_(shuffle) {
  if (!shuffle_) return;
  if (images_ <= kTableImages) {
    table_.resize(images_);
    std::iota(table_.begin(), table_.end(), 0u);
    Draws draws(seed_, epoch_, 0, DrawStream::shuffle);
    for (uint32_t i = static_cast<uint32_t>(images_) - 1; i > 0; --i) {
      std::swap(table_[i], table_[draws.below(i + 1)]);
    }
    return;
  }
  const int bits = static_cast<int>(std::bit_width(images_ - 1));
  low_bits_ = bits / 2;
  high_bits_ = bits - low_bits_;
}

uint32_t EpochOrder::permute_once(uint32_t value) const {
  const uint32_t low_mask = (1u << low_bits_) - 1, high_mask = (1u << high_bits_) - 1;
  uint32_t low = value & low_mask, high = value >> low_bits_;
  for (uint32_t round = 0; round < kRounds; round += 2) {
    const auto mix = [&](uint32_t half, uint32_t number) {
      return Draws(seed_, epoch_, (uint64_t{number + 1} << 32) | half, DrawStream::shuffle).u32();
    };
    high ^= mix(low, round) & high_mask;
    low ^= mix(high, round + 1) & low_mask;
  }
  return (high << low_bits_) | low;
}

uint32_t EpochOrder::record_at(uint64_t position) const {
  position %= images_;
  if (!shuffle_) return static_cast<uint32_t>(position);
  if (!table_.empty()) return table_[position];
  // Cycle walking: the network permutes a power of two below 2 * images, so a walk takes fewer than
  // two steps on average and always comes back into range.
  uint32_t value = static_cast<uint32_t>(position);
  do {
    value = permute_once(value);
  } while (value >= images_);
  return value;
}

PartnerWindow partner_window(uint64_t position, uint64_t images, uint32_t window) {
  images = std::max<uint64_t>(images, 1);
  position %= images;
  const uint32_t per_stream = std::max(window / kOrderStreams, 1u);
  if (images < window || images < kOrderStreams) {
    return {0, static_cast<uint32_t>(images), 1};
  }
  const uint64_t stream = position % kOrderStreams, place = position / kOrderStreams;
  const uint64_t first = place < per_stream ? 0 : place - (per_stream - 1);
  const uint64_t length = (images - stream + kOrderStreams - 1) / kOrderStreams;
  const uint64_t count = std::min<uint64_t>(per_stream, length - first);
  return {first * kOrderStreams + stream, static_cast<uint32_t>(count), kOrderStreams};
}

uint32_t replacement_record(uint64_t images, uint64_t seed, uint32_t epoch, uint64_t position,
                            uint32_t attempt) {
  const uint32_t bound = static_cast<uint32_t>(std::clamp<uint64_t>(images, 1, UINT32_MAX));
  Draws draws(seed, epoch, position, DrawStream::replacement);
  uint32_t record = draws.below(bound);
  while (attempt-- > 0) record = draws.below(bound);
  return record;
}

}  // namespace yoload
