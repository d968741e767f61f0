// SPDX-License-Identifier: Apache-2.0
#include "yoload/batch_digest.h"

#include <xxhash.h>

#include <bit>
#include <new>
#include <vector>

namespace yoload::cli {

static_assert(std::endian::native == std::endian::little,
              "numbers are hashed as they lie in memory");

struct BatchDigest::State {
  State() : hash(XXH3_createState()) {
    if (hash == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(hash);
  }
  ~State() { XXH3_freeState(hash); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void bytes(const void* data, size_t size) {
    number(size);
    if (size > 0) XXH3_64bits_update(hash, data, size);
  }
  void number(uint64_t value) { XXH3_64bits_update(hash, &value, sizeof value); }
  void number(int32_t value) { number(static_cast<uint64_t>(static_cast<int64_t>(value))); }
  template <class T>
  void array(const std::vector<T>& values) {
    bytes(values.data(), values.size() * sizeof(T));
  }

  XXH3_state_t* hash;
};

BatchDigest::BatchDigest() : state_(std::make_unique<State>()) {}
BatchDigest::~BatchDigest() = default;

void BatchDigest::add(const Batch& batch) {
  State& s = *state_;
  s.number(uint64_t{batch.epoch});
  s.number(batch.index);
  for (int32_t value : {batch.size, batch.channels, batch.height_px, batch.width_px,
                        static_cast<int>(batch.dtype)}) {
    s.number(value);
  }
  s.bytes(batch.img.get(), batch.img_bytes());
  s.array(batch.cls);
  s.array(batch.bboxes);
  s.array(batch.batch_idx);
  s.array(batch.keypoints);
  s.array(batch.masks);
  s.number(batch.mask_height_px);
  s.number(batch.mask_width_px);
  // Field by field: the struct has padding.
  s.number(batch.samples.size());
  for (const SampleInfo& sample : batch.samples) {
    s.number(sample.position);
    s.number(uint64_t{sample.record});
    s.number(uint64_t{sample.replaced});
    s.number(sample.ori_height_px);
    s.number(sample.ori_width_px);
    s.number(sample.resized_height_px);
    s.number(sample.resized_width_px);
  }
}

uint64_t BatchDigest::value() const {
  return XXH3_64bits_digest(state_->hash);
}

}  // namespace yoload::cli
