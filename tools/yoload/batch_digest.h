// Digest of a stream of batches: pixels, labels and sample facts, nothing that depends on timing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "yoload/loader.h"

namespace yoload::cli {

/// XXH3-64 over every field of every batch in the order they arrive, each array with its length in
/// front, numbers as little-endian bytes. Two streams are equal exactly if their digests are (up to
/// collisions of 64 bits; this is not a cryptographic hash).
class BatchDigest {
 public:
  BatchDigest();
  ~BatchDigest();
  void add(const Batch& batch);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace yoload::cli
