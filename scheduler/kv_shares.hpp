// kv-split = auto: the K/V tiles of all items lie in a row, in the order of the items, and are cut
// into equal shares, one a worker: Stream-K over all waves (Osama et al., arXiv 2301.03598), for
// attention LeanAttention (arXiv 2405.10480). Items may scan any number of tiles, so sequences may
// have any lengths.
//
// A worker walks its share from front to back: the rest of an item that began before it, whole
// items, and the beginning of one that goes on in the next share. The worker that comes last of an
// item merges its pieces. An item without tiles is written by the worker whose share has the next
// tile.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/last_wave.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"

namespace sawtooth {

class KvShares {
 public:
  /// Without shares: a schedule that is not cut.
  KvShares() = default;
  /// `before[i]` are the tiles of all items before item i, for 0 <= i <= items: before[0] = 0, and
  /// before[items] are all. Not owned; memory of the side that reads it. items, workers >= 1.
  SAWTOOTH_HD constexpr KvShares(const int64_t* before, int64_t items, int64_t workers)
      : before_(before),
        items_(items),
        workers_(workers),
        tiles_(before[items]),
        shares_(max_of(1, min_of(workers, tiles_))) {}

  SAWTOOTH_HD constexpr bool cuts() const { return before_ != nullptr; }
  SAWTOOTH_HD constexpr int64_t items() const { return items_; }
  SAWTOOTH_HD constexpr int64_t workers() const { return workers_; }
  SAWTOOTH_HD constexpr int64_t tiles() const { return tiles_; }
  /// Those of workers from here on are empty.
  SAWTOOTH_HD constexpr int64_t shares() const { return shares_; }

  /// Where share `share` begins in the row of all tiles; 0 <= share <= shares.
  SAWTOOTH_HD constexpr int64_t begin(int64_t share) const { return share * tiles_ / shares_; }
  /// The share that has tile `tile` of the row.
  SAWTOOTH_HD constexpr int64_t share_of(int64_t tile) const {
    return ((tile + 1) * shares_ - 1) / tiles_;
  }

  /// The items of which share `share` has a piece, in the order in which its worker takes them.
  SAWTOOTH_HD constexpr Range items_of(int64_t share) const {
    if (share >= shares_) return {};
    const int64_t from = begin(share);
    const int64_t first = first_at(from);
    const bool straddles = first == items_ || before_[first] > from;
    return {straddles ? first - 1 : first,
            share + 1 == shares_ ? items_ : first_at(begin(share + 1))};
  }
  /// Positions in the tiles that `item` scans, of those in share `share`.
  SAWTOOTH_HD constexpr Range positions(int64_t share, int64_t item) const {
    return {max_of(0, begin(share) - before_[item]),
            min_of(before_[item + 1], begin(share + 1)) - before_[item]};
  }
  /// The piece of `item` that share `share` has. Shares a to b of a cut item have numbers 2 a to
  /// a + b, which no other item has: its first share is b or later.
  SAWTOOTH_HD constexpr Pieces pieces(int64_t share, int64_t item) const {
    if (before_[item] == before_[item + 1]) return {};
    const int64_t first = share_of(before_[item]);
    const int64_t last = share_of(before_[item + 1] - 1);
    if (first == last) return {};
    return {2 * first, last - first + 1, first + share};
  }
  /// Numbers of pieces lie below it: what a workspace must hold, whatever the lengths are.
  SAWTOOTH_HD static constexpr int64_t most_pieces(int64_t workers) { return 2 * workers; }

 private:
  /// The first item that begins at `tile` or behind it; items_ if none does.
  SAWTOOTH_HD constexpr int64_t first_at(int64_t tile) const {
    int64_t low = 0, high = items_;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (before_[middle] < tile)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  const int64_t* before_ = nullptr;
  int64_t items_ = 0;
  int64_t workers_ = 1;
  int64_t tiles_ = 0;
  int64_t shares_ = 1;
};

/// `item` cut to what share `share` has of it.
SAWTOOTH_HD constexpr Item cut_to_share(Item item, const KvShares& shares, int64_t share) {
  const Range positions = shares.positions(share, item.index);
  item.pieces = shares.pieces(share, item.index);
  if (item.pieces.count > 1)
    item.scanned = {item.scanned.begin + positions.begin, item.scanned.begin + positions.end};
  return item;
}

/// Fills before[0 .. items] for KvShares; returns before[items]. The order has `items` items.
SAWTOOTH_HD constexpr int64_t fill_tiles_before(const Problem& problem, const Tiling& tiling,
                                                const Schedule& schedule,
                                                const Sequences& sequences, int64_t items,
                                                int64_t* before) {
  int64_t tiles = 0;
  for (int64_t i = 0; i < items; ++i) {
    before[i] = tiles;
    tiles += item_at(problem, tiling, schedule, sequences, i).scanned.size();
  }
  return before[items] = tiles;
}

}  // namespace sawtooth
