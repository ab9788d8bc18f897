// What no order, and no replacement, can beat: reads of DRAM, and time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "scheduler/integer_math.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/gpu.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

// Reads that no order can go below.

/// `values` >= 0 go whole to `workers` >= 1. The busiest has at least the mean and, for every k,
/// the k + 1 least of the k * workers + 1 greatest, for some worker has k + 1 of these.
template <class Value>
Value busiest_worker(std::vector<Value> values, int64_t workers) {
  std::sort(values.begin(), values.end(), std::greater<>());
  std::vector<Value> sums{Value{0}};  // of the greatest
  for (const Value value : values) sums.push_back(sums.back() + value);
  const auto count = static_cast<int64_t>(values.size());
  if (count == 0) return Value{0};
  const Value all = sums.back();
  Value most{};
  if constexpr (std::is_integral_v<Value>)
    most = ceil_div(all, min_of(workers, count));
  else
    most = all / Value(min_of(workers, count));
  for (int64_t k = 0; k * workers < count; ++k) {
    const auto end = static_cast<size_t>(k * workers + 1);
    most = std::max(most, sums[end] - sums[end - static_cast<size_t>(k) - 1]);
  }
  return most;
}

// DRAM reads that no order of work can do without (docs/models/bounds.md has the proof).
//
// While a worker processes an item, L2 must be given all of the item's K/V lines but those it holds
// when the item begins, which are at most its capacity. A worker's items follow each other, so the
// lines that they need beyond the capacity add up, and some worker has at least its share of them.

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

// Time that no order of work can do without, by the costs of the timed model: arithmetic, balance,
// bytes and the latency of what comes first (docs/models/bounds.md).

/// In microseconds, from launch to end.
struct TimeBounds {
  double all_orders = 0;  // any assignment of the items to the workers
  double this_order = 0;  // static and balanced launches: of this one; else as all_orders
};

/// Throws std::invalid_argument as timed_parameters() does. Steps are random in time: what they
/// may gain together by four standard deviations is taken off.
TimeBounds time_bounds(const Request& request, const Gpu& gpu);

}  // namespace sawtooth::sim
