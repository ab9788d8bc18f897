// The turns of dq = ordered in time: additions to a Q tile go out one after another, in the order
// of the items (scheduler/dq_order.hpp). Of each tile a word in L2 counts them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/order.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"
#include "sim/schedule/item_walk.hpp"
#include "sim/timed/parameters.hpp"

namespace sawtooth::sim {

class DqTurns {
 public:
  /// All arguments must outlive it.
  DqTurns(const Problem& problem, const Tiling& tiling, const Order& order, const L2Parameters& l2);

  /// What the word takes to be read from L2; it lies in either half.
  double word_ns() const { return word_ns_; }

  /// When `worker` sees that all items before its own have added to its Q tile, or empty: then it
  /// waits until `end` names it.
  std::optional<double> seen_ns(const WorkerCursor& cursor, int32_t worker);

  struct End {
    double told_ns = 0;            // the next one's turn is written; this worker goes on
    std::optional<int32_t> woken;  // who has waited for it
    double seen_ns = 0;            // and when it sees that
  };
  /// A turn whose last addition goes out at `added_ns`.
  End end(const WorkerCursor& cursor, double added_ns);

  /// Whether some worker waits for a turn that has not ended.
  bool awaited() const { return !waits_.empty(); }

 private:
  struct Tile {
    int64_t ended = 0;
    double seen_ns = 0;  // when the next one knows of the last
  };

  int64_t place_of(const WorkerCursor& cursor) const;

  const Problem& problem_;
  const Tiling& tiling_;
  const Order& order_;
  double fence_ns_;
  double word_ns_;
  std::vector<Tile> tiles_;                               // of each head
  std::map<std::pair<int64_t, int64_t>, int32_t> waits_;  // worker by tile and turn
};

}  // namespace sawtooth::sim
