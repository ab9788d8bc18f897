// Where one worker of a wavefront stands inside its item: the current pair of Q and K/V tile, and
// the way to the next one, for both loop orders.
#pragma once

#include <cstdint>

#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/schedule/own_scan.hpp"

namespace sawtooth::sim {

class WorkerCursor {
 public:
  /// Begins `item`; `attach_tile` is the K/V tile last started on its K/V head. `own_scan`, if any,
  /// replaces the scan of `schedule` and must outlive the cursor.
  void begin(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
             const Item& item, int64_t attach_tile, OwnScan* own_scan) {
    item_ = item;
    own_scan_ = own_scan;
    step_ = 0;
    scan_ = scan_context(schedule, item, items_before_++, attach_tile);
    if (schedule.loop == Loop::kv_outer) {
      kv_tile_ = -1;
      next_kv_tile(problem, tiling, schedule);
    } else {
      q_tile_ = item.q_tile;
      done_ = item.kv_tiles.empty();
      look_up();
      if (!done_) place(schedule);
    }
  }

  /// Moves to the next pair of tiles; done() tells whether there was one.
  void advance(const Problem& problem, const Tiling& tiling, const Schedule& schedule) {
    ++step_;
    if (step_ < scan_.tiles) {
      place(schedule);
    } else if (schedule.loop == Loop::kv_outer) {
      next_kv_tile(problem, tiling, schedule);
    } else {
      done_ = true;
    }
  }

  bool done() const { return done_; }
  const Item& item() const { return item_; }
  int64_t q_tile() const { return q_tile_; }
  int64_t kv_tile() const { return kv_tile_; }
  /// Step of the inner loop: over K/V tiles (kv_inner) or over the Q tiles of one K/V tile.
  int64_t step() const { return step_; }
  int64_t items_begun() const { return items_before_; }

  /// K/V tile `distance` steps ahead in this item's scan, or -1 past its end (kv_inner).
  int64_t kv_tile_ahead(const Schedule& schedule, int64_t distance) const {
    const int64_t ahead = step_ + distance;
    return ahead < scan_.tiles ? item_.kv_tiles.begin + position(schedule, ahead) : -1;
  }

 private:
  void look_up() {
    if (own_scan_ != nullptr && scan_.tiles > 0) positions_ = own_scan_->positions(scan_);
  }
  int64_t position(const Schedule& schedule, int64_t step) const {
    return own_scan_ != nullptr ? positions_[step] : scan_position(schedule.scan, scan_, step);
  }

  void place(const Schedule& schedule) {
    if (schedule.loop == Loop::kv_outer) {
      q_tile_ = q_tiles_.begin + position(schedule, step_);
    } else {
      kv_tile_ = item_.kv_tiles.begin + position(schedule, step_);
    }
  }

  void next_kv_tile(const Problem& problem, const Tiling& tiling, const Schedule& schedule) {
    step_ = 0;
    do {
      done_ = ++kv_tile_ >= item_.kv_tiles.end;
      if (done_) return;
      q_tiles_ = seeing_q_tiles(problem, tiling, kv_tile_);
    } while (q_tiles_.empty());
    scan_ = kv_outer_scan_context(schedule, item_, kv_tile_, q_tiles_.size());
    look_up();
    place(schedule);
  }

  Item item_;
  ScanContext scan_;
  OwnScan* own_scan_ = nullptr;
  const int32_t* positions_ = nullptr;  // of own_scan_, for scan_
  Range q_tiles_;                       // that see kv_tile_ (kv_outer)
  int64_t items_before_ = 0;
  int64_t step_ = 0;
  int64_t q_tile_ = 0;
  int64_t kv_tile_ = 0;
  bool done_ = true;
};

}  // namespace sawtooth::sim
