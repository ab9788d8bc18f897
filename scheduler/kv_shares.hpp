// Equal shares of all K/V work (`kv-split = auto`): the K/V tiles of all units of a launch are laid
// out in a row and cut into shares, as Stream-K does with the inner loop of a matrix product (Osama
// et al., arXiv 2301.03598) and LeanAttention with decode (Sanovar et al., arXiv 2405.10480).
//
// A unit is what has a softmax of its own: a tile of packed query rows of one K/V head of one
// sequence. Units follow one another sequence by sequence, inside it K/V head by K/V head. A unit
// without a key takes one tile, so that some share writes its zeros. Worker w begins with share w.
// With `drawn` the end of the row is cut finer, into shares that workers draw when they are free:
// SMs that L2 serves faster take more of them.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth {

/// How much of the row is drawn: `percent` of its tiles, in `a_worker` shares for each worker, of
/// `least_tiles` or more each. All is dealt where percent is 0.
struct DrawnShares {
  int32_t percent = 0;
  int32_t a_worker = 0;
  int32_t least_tiles = 4;
  friend constexpr bool operator==(const DrawnShares&, const DrawnShares&) = default;
};

class KvShares {
 public:
  /// Of a row of `tiles` >= 1 tiles for `workers` >= 1.
  SAWTOOTH_HD constexpr KvShares(int64_t tiles, int64_t workers, const DrawnShares& drawn = {})
      : tiles_(tiles),
        drawn_tiles_(tiles * drawn.percent / 100),
        drawn_(min_of(drawn.a_worker * workers, drawn_tiles_ / max_of(1, drawn.least_tiles))) {
    if (drawn_ == 0) drawn_tiles_ = 0;
    dealt_ = min_of(workers, tiles_ - drawn_tiles_);
  }

  /// Shares that are dealt, one a worker at most, and then those that are drawn.
  SAWTOOTH_HD constexpr int64_t dealt() const { return dealt_; }
  SAWTOOTH_HD constexpr int64_t drawn() const { return drawn_; }
  SAWTOOTH_HD constexpr int64_t count() const { return dealt_ + drawn_; }

  /// The first tile of share `share`; of count() the row's end.
  SAWTOOTH_HD constexpr int64_t begin(int64_t share) const {
    const int64_t dealt_tiles = tiles_ - drawn_tiles_;
    return share < dealt_ || drawn_ == 0 ? min_of(share, dealt_) * dealt_tiles / dealt_
                                         : dealt_tiles + (share - dealt_) * drawn_tiles_ / drawn_;
  }
  /// The share that has tile `tile` of the row.
  SAWTOOTH_HD constexpr int64_t share_of(int64_t tile) const {
    const int64_t dealt_tiles = tiles_ - drawn_tiles_;
    return tile < dealt_tiles ? ((tile + 1) * dealt_ - 1) / dealt_tiles
                              : dealt_ + ((tile - dealt_tiles + 1) * drawn_ - 1) / drawn_tiles_;
  }

 private:
  int64_t tiles_;
  int64_t drawn_tiles_;
  int64_t drawn_;
  int64_t dealt_ = 1;
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

/// Of the unit that has tiles [begin, end) of the row.
SAWTOOTH_HD constexpr UnitPieces pieces_of(const KvShares& shares, int64_t begin, int64_t end) {
  return {shares.share_of(begin), shares.share_of(end - 1)};
}

/// Workers for `units` >= 1 units of `tiles` >= 1 tiles each on a GPU that `resident` >= 1 fill:
/// all of them, or up to 5 % less where shares then are as many tiles each, or units are whole.
/// Memory is as busy with a few less, and no worker is waited for with one tile more or with a
/// merge.
SAWTOOTH_HD constexpr int64_t workers_for(int64_t units, int64_t tiles, int64_t resident) {
  constexpr int64_t least_percent = 95;
  // What a merge takes, some 4 us, in tiles of 64 KiB at 34 GB/s an SM (H200).
  constexpr int64_t tiles_a_merge = 2;
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
