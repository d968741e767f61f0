// A decoded picture at training size, in host or in device memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/image.h"
#include "core/memory_budget.h"

namespace yoload {

/// What executors read. Whoever renders from a tile holds it; its memory goes back to where it came
/// from with the last holder.
struct Tile {
  virtual ~Tile() = default;
  ImageView view;
};

struct HostTile : Tile {
  Image image;
  BudgetLease lease;
};

}  // namespace yoload
