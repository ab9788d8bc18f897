// Equal shares of all K/V work (`kv-split = auto`): the K/V tiles of all units of a launch are laid
// out in a row and cut into shares, as Stream-K does with the inner loop of a matrix product (Osama
// et al., arXiv 2301.03598) and LeanAttention with decode (Sanovar et al., arXiv 2405.10480).
//
// A unit is what has a softmax of its own: a tile of packed query rows of one K/V head of one
// sequence. Units follow one another sequence by sequence, inside it K/V head by K/V head. A unit
// without a key takes one tile, so that some share writes its zeros. Worker w has share w.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth {

class KvShares {
 public:
  /// `workers` >= 1 share a row of `tiles` >= 1 tiles: a share each, at most a tile for each.
  SAWTOOTH_HD constexpr KvShares(int64_t tiles, int64_t workers)
      : tiles_(tiles), count_(min_of(workers, tiles)) {}

  SAWTOOTH_HD constexpr int64_t count() const { return count_; }
  /// The first tile of share `share`; of count() the row's end.
  SAWTOOTH_HD constexpr int64_t begin(int64_t share) const {
    return min_of(share, count_) * tiles_ / count_;
  }
  /// The share that has tile `tile` of the row.
  SAWTOOTH_HD constexpr int64_t share_of(int64_t tile) const {
    return ((tile + 1) * count_ - 1) / tiles_;
  }

 private:
  int64_t tiles_;
  int64_t count_;
};

/// The pieces that shares cut a unit into: one of each share from `first` to `last`. The last of a
/// share's units may go on in the next share and the first may have begun before, so a share leaves
/// two pieces at most; `first` tells the units apart that are cut.
struct UnitPieces {
  int64_t first = 0;
  int64_t last = 0;

  SAWTOOTH_HD constexpr int64_t count() const { return last - first + 1; }
  /// Where share `share` leaves its piece, below 2 x the shares.
  SAWTOOTH_HD constexpr int64_t slot(int64_t share) const { return 2 * share + (share == first); }
};

/// The unit has tiles [begin, end) of the row.
SAWTOOTH_HD constexpr UnitPieces pieces_of(const KvShares& shares, int64_t begin, int64_t end) {
  return {shares.share_of(begin), shares.share_of(end - 1)};
}

/// Workers for `units` >= 1 units of `tiles` >= 1 tiles each on a GPU that `resident` >= 1 fill:
/// all of them, or up to 5 % less where shares then are as many tiles each, or units are whole.
/// Memory is as busy with a few less, and no worker is waited for with one tile more or with a
/// merge, which takes as long as `tiles_a_merge` tiles.
SAWTOOTH_HD constexpr int64_t workers_for(int64_t units, int64_t tiles, int64_t resident,
                                          int64_t tiles_a_merge) {
  constexpr int64_t least_percent = 95;
  const int64_t all = units * tiles;
  int64_t best = resident, least = -1;
  for (int64_t workers = resident; workers >= ceil_div(resident * least_percent, 100); --workers) {
    const int64_t busy = ceil_div(all, workers) + (units % workers == 0 ? 0 : tiles_a_merge);
    if (least >= 0 && workers * busy >= least) continue;
    best = workers;
    least = workers * busy;
  }
  return best;
}

}  // namespace sawtooth
