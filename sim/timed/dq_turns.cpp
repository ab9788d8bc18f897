#include "sim/timed/dq_turns.hpp"

#include <algorithm>

#include "scheduler/dq_order.hpp"

namespace sawtooth::sim {

DqTurns::DqTurns(const Problem& problem, const Tiling& tiling, const Order& order,
                 const L2Parameters& l2)
    : problem_(problem),
      tiling_(tiling),
      order_(order),
      fence_ns_(std::max(l2.near_ns, l2.far_ns)),
      word_ns_(l2.lines.halves == 2 ? (l2.near_ns + l2.far_ns) / 2 : l2.near_ns),
      tiles_(static_cast<size_t>(problem.batch * problem.heads * q_tiles(problem, tiling))) {}

int64_t DqTurns::place_of(const WorkerCursor& cursor) const {
  const TilePair pair = cursor.pair();
  const int64_t head = cursor.item().batch * problem_.heads + pair.head;
  return head * q_tiles(problem_, tiling_) + pair.q_tile;
}

std::optional<double> DqTurns::seen_ns(const WorkerCursor& cursor, int32_t worker) {
  const int64_t place = place_of(cursor);
  const int64_t turn =
      additions_before(problem_, tiling_, order_, cursor.item().own_tile, cursor.pair().q_tile);
  const Tile& tile = tiles_[static_cast<size_t>(place)];
  if (tile.ended == turn) return tile.seen_ns;
  waits_.emplace(std::pair(place, turn), worker);
  return std::nullopt;
}

// A fence returns when the farther half has all additions, the turn's word is read and, one more,
// written: in L2 after half a way. Who reads it again and again sees that after a way, from half to
// one and a half.
DqTurns::End DqTurns::end(const WorkerCursor& cursor, double added_ns) {
  const int64_t place = place_of(cursor);
  const double told_ns = added_ns + fence_ns_ + word_ns_;
  Tile& tile = tiles_[static_cast<size_t>(place)];
  tile = {tile.ended + 1, told_ns + 1.5 * word_ns_};
  const auto next = waits_.find({place, tile.ended});
  if (next == waits_.end()) return {told_ns, std::nullopt, 0};
  const int32_t woken = next->second;
  waits_.erase(next);
  return {told_ns, woken, tile.seen_ns};
}

}  // namespace sawtooth::sim
