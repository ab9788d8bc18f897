// DRAM reads that no order of work can do without (docs/models/bounds.md has the proof).
//
// While a worker processes an item, L2 must be given all of the item's K/V lines but those it holds
// when the item begins, which are at most its capacity. A worker's items follow each other, so the
// lines that they need beyond the capacity add up, and some worker has at least its share of them.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::sim {

/// In sectors; of an L2 that is empty at first.
struct ReadBounds {
  int64_t compulsory = 0;  // every sector that is read, once
  int64_t all_orders = 0;  // at least `compulsory`
};

/// For every order, launch, scan, prefetch and replacement, and any speed of the workers, with the
/// tiling, the workers and the kv-split of `schedule`; where it cuts the last wave (balanced), as
/// many items as that wave has may be cut. Under loop = kv-outer both are compulsory.
ReadBounds read_bounds(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                       int64_t l2_bytes);

/// What the lines of one K/V head are read at least, by items that need `item_sectors` of them (in
/// any order, none is 0) in an L2 of `capacity_sectors`; `cut_items` of them, whichever, may come
/// in pieces. `union_sectors` are those of all items together.
int64_t kv_head_bound(std::vector<int64_t> item_sectors, int64_t union_sectors,
                      int64_t capacity_sectors, int64_t workers, int64_t cut_items);

}  // namespace sawtooth::sim
