// The last, incomplete wave under `balanced`: fewer items than workers are left, so their K/V tiles
// are laid out in a row and cut into equal shares, one a worker, as Stream-K does with the inner
// loop of a matrix product (Osama et al., arXiv 2301.03598).
//
// A share is shorter than an item, so it lies in one item or in two: a first and a second piece.
// Worker w has them as items `first_item + w` and `first_item + W + w`: what a stride of W gives
// it. The pieces of an item are numbered without gaps: piece = share + number of the item in this
// wave.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

/// A piece leaves, in float, its rows of O and for each row the maximum and the sum that the four
/// lanes of a quad hold.
inline constexpr int64_t piece_floats_beside_o = 8;

/// Pieces [first, first + count) make up the Q tile; this is piece `own`. A whole item is its only
/// piece; one with count 0 is a place without work.
struct Pieces {
  int64_t first = 0;
  int64_t count = 1;
  int64_t own = 0;
  friend constexpr bool operator==(const Pieces&, const Pieces&) = default;
};

/// Where a place of the last wave stands: its share, and the number of its item in this wave.
struct PiecePlace {
  int64_t share = 0;
  int64_t number = 0;
};

class LastWave {
 public:
  /// The `items` items have `tiles` >= 1 K/V tiles each, visible or not.
  SAWTOOTH_HD constexpr LastWave(int64_t items, int64_t tiles, int64_t workers)
      : first_item_(items / workers * workers),
        left_(items - first_item_),
        tiles_(tiles),
        workers_(workers),
        shares_(min_of(workers, left_ * tiles)) {}

  /// Items and places for pieces together.
  SAWTOOTH_HD constexpr int64_t places() const {
    return first_item_ + (left_ > 0 ? 2 * workers_ : 0);
  }
  SAWTOOTH_HD constexpr bool cuts(int64_t index) const { return index >= first_item_; }
  /// Piece numbers lie below it.
  SAWTOOTH_HD constexpr int64_t most_pieces() const { return left_ > 0 ? shares_ + left_ : 0; }

  /// The index is one that this wave cuts.
  SAWTOOTH_HD constexpr PiecePlace place(int64_t index) const {
    const int64_t share = share_at(index);
    return {share, number_at(index, share)};
  }
  /// The item in the order of all items.
  SAWTOOTH_HD constexpr int64_t item(const PiecePlace& place) const {
    return first_item_ + min_of(left_ - 1, place.number);
  }
  /// The K/V tiles of the item that the piece has; empty where there is no work.
  SAWTOOTH_HD constexpr Range tiles(const PiecePlace& place) const {
    return tiles_between(begin(place.share), begin(place.share + 1), place);
  }
  SAWTOOTH_HD constexpr Pieces pieces(const PiecePlace& place) const {
    if (tiles(place).empty()) return {.first = 0, .count = 0, .own = 0};
    const int64_t first = first_piece(place.number);
    return {first, last_piece(place.number) - first + 1, place.share + place.number};
  }

  // The steps of the above, for a caller with few registers.
  SAWTOOTH_HD constexpr int64_t share_at(int64_t index) const {
    return (index - first_item_) % workers_;
  }
  SAWTOOTH_HD constexpr int64_t number_at(int64_t index, int64_t share) const {
    return begin(share) / tiles_ + (index - first_item_) / workers_;
  }
  /// Where share `number` begins in the row of all tiles; without work from `shares_` on.
  SAWTOOTH_HD constexpr int64_t begin(int64_t number) const {
    return min_of(number, shares_) * left_ * tiles_ / shares_;
  }
  SAWTOOTH_HD constexpr Range tiles_between(int64_t begin, int64_t end,
                                            const PiecePlace& place) const {
    const int64_t first = place.number * tiles_;
    return {max_of(begin - first, 0), min_of(end - first, tiles_)};
  }
  SAWTOOTH_HD constexpr int64_t first_piece(int64_t number) const {
    return share_of(number * tiles_) + number;
  }
  SAWTOOTH_HD constexpr int64_t last_piece(int64_t number) const {
    return share_of((number + 1) * tiles_ - 1) + number;
  }

 private:
  /// The share that has tile `tile` of the row.
  SAWTOOTH_HD constexpr int64_t share_of(int64_t tile) const {
    return ((tile + 1) * shares_ - 1) / (left_ * tiles_);
  }

  int64_t first_item_;
  int64_t left_;
  int64_t tiles_;
  int64_t workers_;
  int64_t shares_;
};

}  // namespace sawtooth
