// What a worker reads and writes on its way through its items, whatever the model of time: its own
// tiles, the tiles of its steps, prefetches, results, partial results, pieces, cascades, and the
// combine kernel. Lockstep, the timed wavefront and traces take their touches from here; what is
// loaded, scanned and stored in which pass stands in sim/schedule/roles.hpp.
//
// Touches go to a function touch(Tensor, flat head, tile, Access), numbered as LiveAtoms has them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "scheduler/cascade.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/tiling.hpp"
#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/roles.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

// Where one worker of a wavefront stands inside its item: the current pair of Q and K/V tile, and
// the way to the next one, for both passes and loop orders. An item of the backward pass and a K/V
// tile of kv_outer are scanned alike: over the Q tiles that see a K/V tile.

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

class ItemWalk {
 public:
  /// `request` must outlive the walk.
  explicit ItemWalk(const Request& request) : ItemWalk(request, roles_of(request)) {}
  /// The kernel may be another one than that of the request's own roles.
  ItemWalk(const Request& request, const Roles& roles)
      : roles_(roles),
        problem_(request.problem),
        tiling_(request.tiling),
        schedule_(request.schedule),
        sequences_(request.sequences),
        shares_(request.shares),
        own_scan_(request.own_scan),
        parts_(request.parts),
        part_(request.part),
        items_(parts_.items_of(part_, item_count(problem_, tiling_, schedule_))),
        begun_(request.items_begun),
        running_o_(keeps_running_o(request)),
        attaches_(own_scan_ != nullptr || traits_of(schedule_.scan).attaches),
        live_(request) {
    if (!request.cascade) return;
    cascade_.emplace(problem_, tiling_, sequences_.prefix);
    items_ += cascade_->prefix_items();
  }

  const Roles& roles() const { return roles_; }
  int64_t items() const { return items_; }
  /// That have an item at once, at most.
  int64_t workers() const {
    return shares_.cuts() ? shares_.row().count() : min_of(schedule_.workers, items_);
  }
  /// Whether workers take pieces from next_piece(), in place of items by their numbers.
  bool has_shares() const { return shares_.cuts(); }
  /// The next item of which worker w, whose share is w, has a piece, where it has begun `begun`.
  std::optional<int64_t> next_piece(int64_t w, int64_t begun) const {
    const Range own = shares_.items_of(w);
    return begun < own.size() ? std::optional(own.begin + begun) : std::nullopt;
  }

  /// Begins item `index`, or what `share` has of it; one that sees nothing is done at once, and
  /// still has results.
  void begin(WorkerCursor& cursor, int64_t index, int64_t share = 0) const {
    if (begun_ != nullptr) begun_->fetch_add(1, std::memory_order_relaxed);
    Item item =
        cascade_ ? cascade_item_at(problem_, tiling_, schedule_, sequences_, *cascade_, index)
                 : item_at(problem_, tiling_, schedule_, sequences_, parts_.item_at(part_, index));
    item.index = index;
    if (shares_.cuts()) item = cut_to_share(item, shares_, share);
    const auto attach = attach_.find(kv_head(item));
    cursor.begin(problem_, tiling_, schedule_, item, attach == attach_.end() ? 0 : attach->second,
                 own_scan_);
  }
  void advance(WorkerCursor& cursor) const { cursor.advance(problem_, tiling_, schedule_); }

  /// Whether the item's Q tile lies past the end of its sequence: it touches nothing.
  bool is_void(const Item& item) const {
    return sawtooth::is_void(problem_, tiling_, sequences_, item.batch, item.own_tile);
  }

  /// What an item needs before its first step.
  template <class Touch>
  void first_loads(const WorkerCursor& cursor, Touch touch) const {
    if (kv_outer()) return;
    for (const Tensor tensor : roles_.loads) {
      for_each_sequence(cursor.item(), [&](const Item& item, int64_t /*place*/) {
        touch_own(item, tensor, Access::read, touch);
      });
    }
  }

  /// The worker starts on its tile, where others may attach.
  void start_step(const WorkerCursor& cursor) {
    if (attaches_) attach_[kv_head(cursor.item())] = cursor.scanned_tile();
  }

  /// `tensor`, one that the item scans, of the tile `ahead` steps ahead, where the item has one
  /// (kv_inner).
  template <class Touch>
  void load(const WorkerCursor& cursor, Tensor tensor, int64_t ahead, Access access,
            Touch touch) const {
    const std::optional<TilePair> pair = cursor.pair_ahead(schedule_, ahead);
    if (!pair) return;
    const Item& item = cursor.item();
    if (has_key_rows(tensor))
      touch(tensor, head_of_tile(item, pair->kv_tile), pair->kv_tile, access);
    else
      touch(tensor, item.batch * problem_.heads + pair->head, pair->q_tile, access);
  }

  /// `tensor` (K or V) of a K/V tile that has just begun (kv_outer).
  template <class Touch>
  void load_outer(const WorkerCursor& cursor, Tensor tensor, Touch touch) const {
    if (cursor.step() != 0) return;
    const int64_t tile = cursor.pair().kv_tile;
    touch(tensor, head_of_tile(cursor.item(), tile), tile, Access::read);
  }

  /// A step of kv_outer: Q, the O so far, and O again, which is rounded behind its last K/V tile.
  template <class Touch>
  void step_outer(const WorkerCursor& cursor, Touch touch) const {
    const auto [query_head, q_tile, kv_tile] = cursor.pair();
    const int64_t head = cursor.item().batch * problem_.heads + query_head, tile = q_tile;
    const Range seen = visible_kv_tiles(problem_, tiling_, tile);
    const Mask& mask = problem_.mask;
    const auto kv_tile_at = [&](int64_t i) {
      return is_listed(mask) ? mask.listed->of_q.tiles[i] : i;
    };
    const auto so_far = [&](Access access, bool ends) {
      rows(head, tile, access, [&](Tensor tensor, auto... place) {
        touch(tensor == Tensor::o && running_o_ && !ends ? Tensor::running_o : tensor, place...);
      });
    };
    touch(Tensor::q, head, tile, Access::read);
    // The first K/V tile that a Q tile sees finds no O to go on from.
    if (kv_tile != kv_tile_at(seen.begin)) so_far(Access::read, false);
    so_far(Access::write, kv_tile == kv_tile_at(seen.end - 1));
  }

  /// What an item writes at its end. Under kv_outer O was written on the way, but for the rows that
  /// no K/V tile reached. An item in pieces is whole when the last of them has come, whose worker
  /// then reads them all. Then calls ended(Tensor::q or Tensor::k, flat head) where a head's items
  /// have all ended and no other kernel needs it. Returns whether it has merged a sequence of a
  /// cascade.
  template <class Touch, class Ended>
  bool results(const Item& item, Touch touch, Ended ended) {
    const auto has_ended = [&](const Item& whole) {
      live_.item_ended(q_head(whole), kv_head(whole), [&](Tensor tensor, int64_t head) {
        if (tensor == Tensor::k) attach_.erase(head);
        ended(tensor, head);
      });
    };
    if (cascade_) return cascade_results(item, touch, has_ended);
    if (write_results(item, touch) && roles_.last_touch) has_ended(item);
    return false;
  }

  /// The combine kernel of kv-split: tile after tile of the items, dealt to `workers` in turn, with
  /// touch(worker, Tensor, flat head, tile, Access). Nothing without kv-split, and in the backward
  /// pass without its small kernels, of which it is one.
  template <class Touch>
  void combine(int64_t workers, Touch touch) const {
    const bool backward = problem_.pass == Pass::backward;
    if (schedule_.kv_split <= 1 || (backward && !schedule_.small_kernels)) return;
    const int64_t tiles = item_tiles(problem_, tiling_, problem_.pass);
    const int64_t heads = problem_.item_heads(problem_.pass);
    for (int64_t i = 0; i < problem_.batch * heads * tiles; ++i) {
      const auto by_worker = [&](Tensor tensor, int64_t head, int64_t tile, Access access) {
        touch(i % workers, tensor, head, tile, access);
      };
      const int64_t head = i / tiles, tile = i % tiles;
      if (sawtooth::is_void(problem_, tiling_, sequences_, head / heads, tile)) continue;
      for (int64_t part = 0; part < schedule_.kv_split; ++part)
        for (auto tensor = roles_.parts.rbegin(); tensor != roles_.parts.rend(); ++tensor)
          by_worker(*tensor, head * schedule_.kv_split + part, tile, Access::read);
      rows(head, tile, Access::write, by_worker);
    }
  }

 private:
  bool kv_outer() const { return schedule_.loop == Loop::kv_outer; }
  int64_t q_head(const Item& item) const { return item.batch * problem_.heads + item.head; }
  int64_t kv_head(const Item& item) const { return item.batch * problem_.kv_heads + item.kv_head; }
  /// The K/V head in whose memory a tile lies that the item scans.
  int64_t head_of_tile(const Item& item, int64_t tile) const {
    return sequences_.prefix.owner(item.batch, tile, tiling_.kv_rows) * problem_.kv_heads +
           item.kv_head;
  }

  /// function(item, place) for each sequence whose rows the item has: of a prefix item those of its
  /// stack.
  template <class Function>
  void for_each_sequence(const Item& item, Function function) const {
    if (!cascade_ || item.part != 0) return function(item, 0);
    Item of_one = item;
    const Range stack = cascade_->sequences_of(item.index);
    for (of_one.batch = stack.begin; of_one.batch < stack.end; ++of_one.batch)
      function(of_one, of_one.batch - stack.begin);
  }

  template <class Touch>
  void touch_own(const Item& item, Tensor tensor, Access access, Touch touch) const {
    touch(tensor, has_key_rows(tensor) ? kv_head(item) : q_head(item), item.own_tile, access);
  }

  // The results of a tile.
  template <class Touch>
  void rows(int64_t head, int64_t tile, Access access, Touch touch) const {
    for (const Tensor tensor : roles_.stores) touch(tensor, head, tile, access);
  }

  /// Whether the item is whole.
  template <class Touch>
  bool write_results(const Item& item, Touch touch) {
    if (is_void(item)) return true;
    if (kv_outer()) {
      const int64_t tiles = q_tiles(problem_, tiling_);
      for (int64_t tile = 0; tile < tiles; ++tile) {
        if (!visible_kv_tiles(problem_, tiling_, tile).empty()) continue;
        rows(q_head(item), tile, Access::write, touch);
      }
    } else if (schedule_.kv_split > 1) {
      const int64_t head = problem_.pass == Pass::forward ? q_head(item) : kv_head(item);
      for (const Tensor tensor : roles_.parts)
        touch(tensor, head * schedule_.kv_split + item.part, item.own_tile, Access::write);
    } else if (is_whole(item.pieces, touch)) {
      for (const Tensor tensor : roles_.merges) touch_own(item, tensor, Access::read, touch);
      for (const Tensor tensor : roles_.stores) touch_own(item, tensor, Access::write, touch);
    } else {
      return false;
    }
    return true;
  }

  // Every item of a cascade leaves pieces; of the two items of a sequence's head the worker that
  // comes last reads the pieces of both, and writes results.
  template <class Touch, class HasEnded>
  bool cascade_results(const Item& item, Touch touch, HasEnded has_ended) {
    const int64_t own = pieces_in_cascade(item.index, item.pieces).own;
    bool merged = false;
    for_each_sequence(item, [&](const Item& of_one, int64_t place) {
      touch(Tensor::partial_o, own, place, Access::write);
      const std::array<int64_t, 2> items{
          cascade_->prefix_item(of_one.batch, of_one.head),
          item.part == 0 ? own_item(of_one.batch, of_one.head) : item.index};
      const std::array<Pieces, 2> both{whole_pieces(items[0]), whole_pieces(items[1])};
      int64_t& come = pieces_come_[q_head(of_one)];
      if (++come < both[0].count + both[1].count) return;
      merged = true;
      pieces_come_.erase(q_head(of_one));
      const std::array<int64_t, 2> places{of_one.batch - cascade_->sequences_of(items[0]).begin, 0};
      for (size_t i = 0; i < both.size(); ++i)
        for (int64_t piece = both[i].first; piece < both[i].first + both[i].count; ++piece)
          touch(Tensor::partial_o, piece, places[i], Access::read);
      rows(q_head(of_one), of_one.own_tile, Access::write, touch);
      has_ended(of_one);
    });
    return merged;
  }
  /// With the numbers of a cascade: behind those of cut items each whole item has one.
  Pieces pieces_in_cascade(int64_t index, const Pieces& pieces) const {
    if (pieces.count > 1) return pieces;
    const int64_t number = (shares_.cuts() ? shares_.most_pieces() : 0) + index;
    return {number, 1, number};
  }
  /// All pieces of item `index` of a cascade.
  Pieces whole_pieces(int64_t index) const {
    if (!shares_.cuts()) return pieces_in_cascade(index, {});
    return pieces_in_cascade(index, shares_.pieces(shares_.first_share(index), index));
  }
  /// The number of the item that has what sequence `batch` has for itself.
  int64_t own_item(int64_t batch, int64_t head) {
    if (own_items_.empty()) {
      own_items_.resize(static_cast<size_t>(problem_.batch * problem_.heads));
      for (int64_t index = cascade_->prefix_items(); index < items_; ++index) {
        const Item item =
            cascade_item_at(problem_, tiling_, schedule_, sequences_, *cascade_, index);
        own_items_[static_cast<size_t>(q_head(item))] = index;
      }
    }
    return own_items_[static_cast<size_t>(batch * problem_.heads + head)];
  }

  // Whether results can be written: at once, or when the last piece of the item has come.
  template <class Touch>
  bool is_whole(const Pieces& pieces, Touch touch) {
    if (pieces.count <= 1) return pieces.count == 1;
    touch(Tensor::partial_o, pieces.own, 0, Access::write);
    if (++pieces_come_[pieces.first] < pieces.count) return false;
    for (int64_t piece = pieces.first; piece < pieces.first + pieces.count; ++piece)
      touch(Tensor::partial_o, piece, 0, Access::read);
    return true;
  }

  Roles roles_;
  const Problem& problem_;
  const Tiling& tiling_;
  const Schedule& schedule_;
  const Sequences& sequences_;
  const ItemShares& shares_;
  std::optional<Cascade> cascade_;
  std::vector<int64_t> own_items_;  // of a cascade, by query head; empty until it is asked for
  OwnScan* own_scan_;
  L2Parts parts_;
  int64_t part_;
  int64_t items_;
  std::atomic<int64_t>* begun_;
  bool running_o_;
  bool attaches_;                                // a scan may look at attach_
  std::unordered_map<int64_t, int64_t> attach_;  // tile last started, of a K/V head
  std::map<int64_t, int64_t> pieces_come_;       // of the item with this first piece, of a cascade
                                                 // of this query head
  LiveHeads live_;
};

}  // namespace sawtooth::sim
