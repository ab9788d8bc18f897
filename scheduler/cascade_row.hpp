// A cascade under equal shares (kv_shares.hpp): the K/V tiles of its prefix items lie in the row
// first, and then those of what the sequences have for themselves, sequence by sequence and head by
// head. Every item leaves pieces, whether shares cut it or not.
#pragma once

#include <cstdint>

#include "scheduler/cascade.hpp"
#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/kv_shares.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

/// Where the items of a cascade lie in the row of all tiles, of sequences as they are numbered.
class CascadeRow {
 public:
  /// `heads` have items; a prefix has `prefix_tiles` tiles.
  SAWTOOTH_HD constexpr CascadeRow(const Cascade& cascade, int64_t heads, int64_t prefix_tiles)
      : prefix_items_(cascade.prefix_items()), heads_(heads), prefix_tiles_(prefix_tiles) {}

  /// Where the tiles of sequences' own items begin.
  SAWTOOTH_HD constexpr int64_t own_begin() const { return prefix_items_ * prefix_tiles_; }
  SAWTOOTH_HD constexpr Range prefix_item(int64_t item) const {
    return {item * prefix_tiles_, (item + 1) * prefix_tiles_};
  }
  /// A sequence's own keys take `tiles` tiles a head, those of sequences before it `before`.
  SAWTOOTH_HD constexpr Range own_item(int64_t head, int64_t before, int64_t tiles) const {
    const int64_t begin = own_begin() + before * heads_ + head * tiles;
    return {begin, begin + tiles};
  }

 private:
  int64_t prefix_items_;
  int64_t heads_;
  int64_t prefix_tiles_;
};

/// The pieces of one item of a cascade.
struct CascadePieces {
  UnitPieces of;
  int64_t whole = 0;  // the slot of an item that no share cuts

  SAWTOOTH_HD constexpr int64_t count() const { return of.count(); }
  /// Where share `share` leaves its piece: the slots of items that are cut, and then one an item.
  SAWTOOTH_HD constexpr int64_t slot(int64_t share) const {
    return of.count() == 1 ? whole : of.slot(share);
  }
};

/// Item `item` has `tiles` of the row.
SAWTOOTH_HD constexpr CascadePieces cascade_pieces(const KvShares& shares, int64_t item,
                                                   const Range& tiles) {
  return {pieces_of(shares, tiles.begin, tiles.end), 2 * shares.count() + item};
}

/// So many blocks of `block` rows have some of `rows` rows from row `first` on.
SAWTOOTH_HD constexpr int64_t row_blocks_of(int64_t first, int64_t rows, int64_t block) {
  return (first + rows - 1) / block - first / block + 1;
}

}  // namespace sawtooth
