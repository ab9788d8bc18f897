// Where one worker of a wavefront stands inside its item: the current pair of Q and K/V tile, and
// the way to the next one, for both passes and loop orders. An item of the backward pass and a K/V
// tile of kv_outer are scanned alike: over the Q tiles that see a K/V tile.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// What a worker computes on in a step; `head` is the query head.
struct TilePair {
  int64_t head = 0;
  int64_t q_tile = 0;
  int64_t kv_tile = 0;
};

class WorkerCursor {
 public:
  /// Begins `item`; `attach_tile` is the tile last started on its K/V head. `own_scan`, if any,
  /// replaces the scan of `schedule` and must outlive the cursor.
  void begin(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
             const Item& item, int64_t attach_tile, OwnScan* own_scan) {
    item_ = item;
    own_scan_ = own_scan;
    step_ = 0;
    const bool scans_q = schedule.loop == Loop::kv_outer || problem.pass == Pass::backward;
    lists_ = !is_listed(problem.mask) ? nullptr
             : scans_q                ? &problem.mask.listed->of_kv
                                      : &problem.mask.listed->of_q;
    if (lists_ != nullptr && schedule.loop == Loop::kv_inner)
      attach_tile = lists_->first_from(item.scanned, attach_tile);
    scan_ = scan_context(schedule, item, items_before_++, attach_tile);
    if (schedule.loop == Loop::kv_outer) {
      kv_tile_ = -1;
      next_kv_tile(problem, tiling, schedule);
      return;
    }
    own_is_q_ = problem.pass == Pass::forward;
    scanned_ = item.scanned;
    (own_is_q_ ? q_tile_ : kv_tile_) = item.own_tile;
    steps_ = scan_.tiles * (own_is_q_ ? 1 : heads_of_item(problem, schedule));
    done_ = scanned_.empty();
    look_up();
    if (!done_) place(schedule);
  }

  /// Moves to the next pair of tiles; done() tells whether there was one.
  void advance(const Problem& problem, const Tiling& tiling, const Schedule& schedule) {
    ++step_;
    if (step_ < steps_) {
      place(schedule);
    } else if (schedule.loop == Loop::kv_outer) {
      next_kv_tile(problem, tiling, schedule);
    } else {
      done_ = true;
    }
  }

  bool done() const { return done_; }
  const Item& item() const { return item_; }
  TilePair pair() const { return {head_at(step_), q_tile_, kv_tile_}; }
  /// The tile of the other side that the worker is at.
  int64_t scanned_tile() const { return own_is_q_ ? kv_tile_ : q_tile_; }
  /// Step of the inner loop: over the scanned tiles of all heads of the item, or over the Q tiles
  /// of one K/V tile (kv_outer).
  int64_t step() const { return step_; }
  int64_t items_begun() const { return items_before_; }

  /// The pair `distance` steps ahead in this item's scan, or none past its end (kv_inner).
  std::optional<TilePair> pair_ahead(const Schedule& schedule, int64_t distance) const {
    const int64_t ahead = step_ + distance;
    if (ahead >= steps_) return std::nullopt;
    const int64_t tile = tile_at(scanned_.begin + position(schedule, ahead));
    return own_is_q_ ? TilePair{item_.head, q_tile_, tile}
                     : TilePair{head_at(ahead), tile, kv_tile_};
  }

 private:
  void look_up() {
    if (own_scan_ != nullptr && scan_.tiles > 0) positions_ = own_scan_->positions(scan_);
  }
  int64_t head_at(int64_t step) const {
    return steps_ > scan_.tiles ? item_.head + step / scan_.tiles : item_.head;
  }
  int64_t position(const Schedule& schedule, int64_t step) const {
    const int64_t in_head = steps_ > scan_.tiles ? step % scan_.tiles : step;
    return own_scan_ != nullptr ? positions_[in_head]
                                : scan_position(schedule.scan, scan_, in_head);
  }

  void place(const Schedule& schedule) {
    (own_is_q_ ? kv_tile_ : q_tile_) = tile_at(scanned_.begin + position(schedule, step_));
  }
  int64_t tile_at(int64_t place) const { return lists_ == nullptr ? place : lists_->tiles[place]; }

  void next_kv_tile(const Problem& problem, const Tiling& tiling, const Schedule& schedule) {
    own_is_q_ = false;
    step_ = 0;
    do {
      done_ = ++kv_tile_ >= item_.scanned.end;
      if (done_) return;
      scanned_ = seeing_q_tiles(problem, tiling, kv_tile_);
    } while (scanned_.empty());
    scan_ = kv_outer_scan_context(schedule, item_, kv_tile_, scanned_.size());
    steps_ = scan_.tiles;
    look_up();
    place(schedule);
  }

  Item item_;
  ScanContext scan_;  // of one head
  OwnScan* own_scan_ = nullptr;
  const int32_t* positions_ = nullptr;  // of own_scan_, for scan_
  const TileLists* lists_ = nullptr;    // of a mask that has some
  Range scanned_;                       // tiles that the steps visit, or places in their list
  bool own_is_q_ = true;                // and these are K/V tiles
  int64_t steps_ = 0;                   // over all heads of the item
  int64_t items_before_ = 0;
  int64_t step_ = 0;
  int64_t q_tile_ = 0;
  int64_t kv_tile_ = 0;
  bool done_ = true;
};

}  // namespace sawtooth::sim
