// The ledger of pictures that could not be used, and the error budget over it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/status.h"
#include "yoload/loader.h"

namespace yoload {

/// Thread-safe.
class Ledger {
 public:
  /// `allowed` records may fail before the run stops.
  explicit Ledger(uint64_t allowed) : allowed_(allowed) {}

  /// A record that failed before and need not be tried again.
  bool is_bad(uint32_t record) const;
  /// Writes the failure down, once per epoch and record. `replacement` is the path that took its
  /// place.
  void note(uint32_t epoch, uint64_t position, uint32_t record, const Status& cause,
            const std::string& replacement);
  bool exhausted() const;
  uint64_t allowed() const { return allowed_; }
  std::vector<LedgerEntry> entries() const;
  /// The cause that `record` failed with, for entries of later epochs.
  Status cause_of(uint32_t record) const;

 private:
  const uint64_t allowed_;
  mutable std::mutex mutex_;
  std::unordered_map<uint32_t, Status> bad_;
  std::set<std::pair<uint32_t, uint32_t>> noted_;  // epoch, record
  std::vector<LedgerEntry> entries_;
};

}  // namespace yoload
