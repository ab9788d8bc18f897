// What happens next in time: the queue of events, of which every worker has at most one, by time
// and then by worker; and the turns that some of them wait for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/dq_order.hpp"
#include "scheduler/order.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"
#include "sim/schedule/item_walk.hpp"
#include "sim/timed/parameters.hpp"

namespace sawtooth::sim {

struct Event {
  double ns = 0;  // at least 0
  int32_t worker = 0;
};

/// A tournament of all workers: a new time plays its way up against winners that are known.
class EventQueue {
 public:
  /// Without events.
  explicit EventQueue(size_t workers)
      : workers_(std::bit_ceil(workers)), winners_(2 * workers_, Node{never, 0}) {}

  bool empty() const { return winners_[1].time == never; }
  Event first() const { return {std::bit_cast<double>(winners_[1].time), winners_[1].worker}; }

  /// The one event of its worker.
  void set(Event event) { play({std::bit_cast<uint64_t>(event.ns), event.worker}); }
  void remove(int32_t worker) { play({never, worker}); }

 private:
  // Times from 0 on are in the order of their bits, which are compared without a branch.
  struct Node {
    uint64_t time;
    int32_t worker;
  };
  static constexpr uint64_t never = UINT64_MAX;  // no time has these bits

  void play(Node node) {
    size_t at = workers_ + static_cast<size_t>(node.worker);
    winners_[at] = node;
    for (; at > 1; at /= 2) {
      const Node other = winners_[at ^ 1];
      const bool loses =
          (other.time < node.time) | ((other.time == node.time) & (other.worker < node.worker));
      node.time = loses ? other.time : node.time;
      node.worker = loses ? other.worker : node.worker;
      winners_[at / 2] = node;
    }
  }

  size_t workers_;
  std::vector<Node> winners_;  // of nodes 2 i and 2 i + 1 in i; the last ones are the workers' own
};

// The turns of dq = ordered in time: additions to a Q tile go out one after another, in the order
// of the items (scheduler/dq_order.hpp). Of each tile a word in L2 counts them.

class DqTurns {
 public:
  /// All arguments must outlive it.
  DqTurns(const Problem& problem, const Tiling& tiling, const Order& order, const L2Parameters& l2)
      : problem_(problem),
        tiling_(tiling),
        order_(order),
        fence_ns_(std::max(l2.near_ns, l2.far_ns)),
        word_ns_(l2.lines.halves == 2 ? (l2.near_ns + l2.far_ns) / 2 : l2.near_ns),
        tiles_(static_cast<size_t>(problem.batch * problem.heads * q_tiles(problem, tiling))) {}

  /// What the word takes to be read from L2; it lies in either half.
  double word_ns() const { return word_ns_; }

  /// When `worker` sees that all items before its own have added to its Q tile, or empty: then it
  /// waits until `end` names it.
  std::optional<double> seen_ns(const WorkerCursor& cursor, int32_t worker) {
    const int64_t place = place_of(cursor);
    const int64_t turn =
        additions_before(problem_, tiling_, order_, cursor.item().own_tile, cursor.pair().q_tile);
    const Tile& tile = tiles_[static_cast<size_t>(place)];
    if (tile.ended == turn) return tile.seen_ns;
    waits_.emplace(std::pair(place, turn), worker);
    return std::nullopt;
  }

  struct End {
    double told_ns = 0;            // the next one's turn is written; this worker goes on
    std::optional<int32_t> woken;  // who has waited for it
    double seen_ns = 0;            // and when it sees that
  };
  /// A turn whose last addition goes out at `added_ns`. A fence returns when the farther half has
  /// all additions, the turn's word is read and, one more, written: in L2 after half a way. Who
  /// reads it again and again sees that after a way, from half to one and a half.
  End end(const WorkerCursor& cursor, double added_ns) {
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

  /// Whether some worker waits for a turn that has not ended.
  bool awaited() const { return !waits_.empty(); }

 private:
  struct Tile {
    int64_t ended = 0;
    double seen_ns = 0;  // when the next one knows of the last
  };

  int64_t place_of(const WorkerCursor& cursor) const {
    const TilePair pair = cursor.pair();
    const int64_t head = cursor.item().batch * problem_.heads + pair.head;
    return head * q_tiles(problem_, tiling_) + pair.q_tile;
  }

  const Problem& problem_;
  const Tiling& tiling_;
  const Order& order_;
  double fence_ns_, word_ns_;
  std::vector<Tile> tiles_;                               // of each head
  std::map<std::pair<int64_t, int64_t>, int32_t> waits_;  // worker by tile and turn
};

}  // namespace sawtooth::sim
