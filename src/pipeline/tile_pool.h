// The decode-once pool: the pictures of the positions that samples may draw on now, shared by all
// threads.
//
// An entry is made when the first sample asks for its position, is pinned by the samples that read
// it, and leaves when the last position whose window holds it has been admitted, or earlier when
// memory is short: then it is decoded again, which costs time and never changes a pixel.
//
// No locking here: the engine's mutex guards the pool and all entries.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "pipeline/epoch.h"
#include "pipeline/tile_path.h"

namespace yoload {

struct SampleTask;

/// The picture at one position of one epoch.
struct PoolEntry {
  std::shared_ptr<const Epoch> epoch;
  uint64_t position = 0;
  bool ready = false;
  std::shared_ptr<const Tile> tile;  ///< set when ready
  uint32_t record = 0;               ///< what the position resolved to, set when ready
  int pins = 0;                      ///< samples that hold or await this entry
  std::vector<std::shared_ptr<SampleTask>> waiters;

  /// The record that stands at the position, if it can be read.
  uint32_t planned() const { return epoch->record_at(position); }
};

class TilePool {
 public:
  /// The entry of a position; `*made` tells that it is new and has to be decoded.
  std::shared_ptr<PoolEntry> pin(const std::shared_ptr<const Epoch>& epoch, uint64_t position,
                                 bool* made);
  void unpin(PoolEntry* entry);
  /// A new entry that nobody holds yet, or null if the position has one.
  std::shared_ptr<PoolEntry> add(const std::shared_ptr<const Epoch>& epoch, uint64_t position);
  /// No sample before `position` of `epoch` will be admitted any more.
  void advance(const Epoch& epoch, uint64_t position);
  /// Drops one picture that nobody holds, the one whose remaining use is least; false if there is
  /// none. `cursor_epoch`, `cursor` say where admission stands.
  bool evict_one(uint32_t cursor_epoch, uint64_t cursor);
  /// Forgets everything. Tasks that hold entries keep them alive and finish into nowhere.
  void clear();

  size_t size() const { return entries_.size(); }
  uint64_t evictions() const { return evictions_; }

 private:
  using Key = std::pair<uint32_t, uint64_t>;  // epoch, position
  bool finished(const PoolEntry& entry) const;

  std::map<Key, std::shared_ptr<PoolEntry>> entries_;
  Key cursor_{0, 0};
  uint64_t evictions_ = 0;
};

}  // namespace yoload
