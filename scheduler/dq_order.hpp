// The order of additions to dQ under dq = ordered: to each Q tile in the order of the items, so
// that sums are the same at every run. An item waits until those before it have added.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/order.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth {

/// Additions to Q tile `q_tile`, of one head, by items that stand before the one with K/V tile
/// `own_tile`, which sees the Q tile. Of an order without a list.
SAWTOOTH_HD constexpr int64_t additions_before(const Problem& problem, const Tiling& tiling,
                                               const Order& order, int64_t own_tile,
                                               int64_t q_tile) {
  const int64_t tiles = kv_tiles(problem, tiling);
  const Range adding = visible_kv_tiles(problem, tiling, q_tile);
  // The tiles of the ranks before are some at the front and some at the back.
  return QOrders::dispatch(order.q_order.index, [&](auto policy) {
    using QOrder = decltype(policy);
    const int64_t rank = QOrder::rank(own_tile, tiles);
    const int64_t front = QOrder::from_front(rank);
    return intersection(adding, {0, front}).size() +
           intersection(adding, {tiles - (rank - front), tiles}).size();
  });
}

}  // namespace sawtooth
