// kv-split = auto over the items of a schedule: their K/V tiles lie in a row, in the order of the
// items, which scheduler/kv_shares.hpp cuts into equal shares. Items may scan any number of tiles,
// so sequences may have any lengths; one that scans none takes one tile, so that a share has it.
//
// A worker walks its share from front to back: the rest of an item that began before it, whole
// items, and the beginning of one that goes on in the next share. The worker that comes last of an
// item merges its pieces.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/kv_shares.hpp"
#include "scheduler/last_wave.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"

namespace sawtooth {

/// A piece of these leaves, in float, its rows of O and for each row the maximum and the sum.
inline constexpr int64_t share_piece_floats_beside_o = 2;

class ItemShares {
 public:
  /// Without shares: a schedule that is not cut.
  ItemShares() = default;
  /// `before[i]` are the tiles that all items before item i take, for 0 <= i <= items; before[0] =
  /// 0, before[items] >= 1. Not owned; memory of the side that reads it. items, workers >= 1.
  SAWTOOTH_HD constexpr ItemShares(const int64_t* before, int64_t items, int64_t workers)
      : before_(before), items_(items), row_(before[items], workers) {}

  SAWTOOTH_HD constexpr bool cuts() const { return before_ != nullptr; }
  SAWTOOTH_HD constexpr int64_t items() const { return items_; }
  SAWTOOTH_HD constexpr int64_t tiles() const { return before_[items_]; }
  SAWTOOTH_HD constexpr const KvShares& row() const { return row_; }

  /// The items of which share `share` has a piece, in the order in which its worker takes them.
  SAWTOOTH_HD constexpr Range items_of(int64_t share) const {
    if (share >= row_.count()) return {};
    const int64_t from = row_.begin(share);
    const int64_t first = first_at(from);
    const bool straddles = first == items_ || before_[first] > from;
    return {straddles ? first - 1 : first,
            share + 1 == row_.count() ? items_ : first_at(row_.begin(share + 1))};
  }
  /// Positions in the tiles that `item` takes, of those in share `share`.
  SAWTOOTH_HD constexpr Range positions(int64_t share, int64_t item) const {
    return {max_of(0, row_.begin(share) - before_[item]),
            min_of(before_[item + 1], row_.begin(share + 1)) - before_[item]};
  }
  /// The piece of `item` that share `share` has. Shares a to b of a cut item have numbers 2 a to
  /// a + b, which no other item has: its first share is b or later.
  SAWTOOTH_HD constexpr Pieces pieces(int64_t share, int64_t item) const {
    if (before_[item] == before_[item + 1]) return {};
    const UnitPieces of = pieces_of(row_, before_[item], before_[item + 1]);
    if (of.count() == 1) return {};
    return {2 * of.first, of.count(), of.first + share};
  }
  /// The first share that has a piece of `item`, which takes tiles.
  SAWTOOTH_HD constexpr int64_t first_share(int64_t item) const {
    return row_.share_of(before_[item]);
  }
  /// Numbers of pieces lie below it.
  SAWTOOTH_HD constexpr int64_t most_pieces() const { return 2 * row_.count(); }

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
  KvShares row_{1, 1};
};

/// `item` cut to what share `share` has of it.
SAWTOOTH_HD constexpr Item cut_to_share(Item item, const ItemShares& shares, int64_t share) {
  item.pieces = shares.pieces(share, item.index);
  if (item.pieces.count == 1) return item;
  const Range positions = shares.positions(share, item.index);
  item.scanned = {item.scanned.begin + positions.begin, item.scanned.begin + positions.end};
  return item;
}

/// Fills before[0 .. items] for ItemShares with the sums of tiles_of(item); returns before[items].
template <class TilesOf>
SAWTOOTH_HD constexpr int64_t sum_tiles_before(int64_t items, TilesOf tiles_of, int64_t* before) {
  int64_t tiles = 0;
  for (int64_t i = 0; i < items; ++i) {
    before[i] = tiles;
    tiles += tiles_of(i);
  }
  return before[items] = tiles;
}

/// Tiles that an item takes in the row: void ones take none.
SAWTOOTH_HD constexpr int64_t tiles_in_row(const Problem& problem, const Tiling& tiling,
                                           const Sequences& sequences, const Item& item) {
  if (is_void(problem, tiling, sequences, item.batch, item.own_tile)) return 0;
  return max_of(1, item.scanned.size());
}

}  // namespace sawtooth
