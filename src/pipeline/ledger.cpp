// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ledger.h"

namespace yoload {

bool Ledger::is_bad(uint32_t record) const {
  std::lock_guard lock(mutex_);
  return bad_.contains(record);
}

Status Ledger::cause_of(uint32_t record) const {
  std::lock_guard lock(mutex_);
  const auto found = bad_.find(record);
  return found == bad_.end() ? Status() : found->second;
}

void Ledger::note(uint32_t epoch, uint64_t position, uint32_t record, const Status& cause,
                  const std::string& replacement) {
  std::lock_guard lock(mutex_);
  bad_.try_emplace(record, cause);
  if (!noted_.emplace(epoch, record).second) return;
  LedgerEntry entry;
  entry.epoch = epoch;
  entry.position = position;
  entry.path = cause.path();
  entry.stage = name(cause.stage());
  entry.cause =
      std::string(name(cause.code())) + (cause.message().empty() ? "" : ": " + cause.message());
  entry.replacement = replacement;
  entries_.push_back(std::move(entry));
}

bool Ledger::exhausted() const {
  std::lock_guard lock(mutex_);
  return bad_.size() > allowed_;
}

std::vector<LedgerEntry> Ledger::entries() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

}  // namespace yoload
