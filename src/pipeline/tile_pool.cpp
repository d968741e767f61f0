// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tile_pool.h"

namespace yoload {

std::shared_ptr<PoolEntry> TilePool::pin(const std::shared_ptr<const Epoch>& epoch,
                                         uint64_t position, bool* made) {
  std::shared_ptr<PoolEntry>& entry = entries_[{epoch->number(), position}];
  *made = entry == nullptr;
  if (*made) {
    entry = std::make_shared<PoolEntry>();
    entry->epoch = epoch;
    entry->position = position;
  }
  ++entry->pins;
  return entry;
}

std::shared_ptr<PoolEntry> TilePool::add(const std::shared_ptr<const Epoch>& epoch,
                                         uint64_t position) {
  bool made = false;
  std::shared_ptr<PoolEntry> entry = pin(epoch, position, &made);
  --entry->pins;
  return made ? entry : nullptr;
}

bool TilePool::finished(const PoolEntry& entry) const {
  const uint32_t epoch = entry.epoch->number();
  if (epoch != cursor_.first) return epoch < cursor_.first;
  return entry.epoch->last_user(entry.position) < cursor_.second;
}

void TilePool::unpin(PoolEntry* entry) {
  if (--entry->pins > 0 || !finished(*entry)) return;
  const auto found = entries_.find({entry->epoch->number(), entry->position});
  if (found != entries_.end() && found->second.get() == entry) entries_.erase(found);
}

void TilePool::advance(const Epoch& epoch, uint64_t position) {
  cursor_ = {epoch.number(), position};
  // Entries are ordered by position and so is their last use: stop at the first that is still
  // wanted.
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (!finished(*entry->second)) break;
    entry = entry->second->pins == 0 ? entries_.erase(entry) : std::next(entry);
  }
}

bool TilePool::evict_one(uint32_t cursor_epoch, uint64_t cursor) {
  // Trailing entries may only be partners, and the oldest have the least life left: those first.
  // Then those ahead, the farthest first: their own turn comes last.
  auto victim = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->second->pins > 0 || !entry->second->ready) continue;
    victim = entry;
    if (entry->first < Key{cursor_epoch, cursor}) break;
  }
  if (victim == entries_.end()) return false;
  entries_.erase(victim);
  ++evictions_;
  return true;
}

void TilePool::clear() {
  // Waiters hold their entries and entries their waiters: someone has to let go first.
  for (auto& [key, entry] : entries_) entry->waiters.clear();
  entries_.clear();
}

}  // namespace yoload
