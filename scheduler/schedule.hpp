// The schedule: order + launch + scan + prefetch, one trivially copyable value that the simulator
// replays and the kernels execute. Everything that decides what runs next is a function here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"
#include "scheduler/last_wave.hpp"
#include "scheduler/launch.hpp"
#include "scheduler/order.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/scan.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth {

/// kv_inner: an item is a Q tile that scans K/V. kv_outer (FlashAttention-1): an item is a whole
/// head; for each K/V tile all Q and O tiles that see it are read, and O is written again.
enum class Loop : uint8_t { kv_inner, kv_outer };

/// How the backward pass adds up dQ. atomic: every step adds its part in fp32 in L2. ordered: the
/// same, but to each Q tile in the order of the items, so that sums are the same at every run.
/// separate: a kernel of its own whose items are Q tiles; it computes the scores again.
enum class Dq : uint8_t { atomic, ordered, separate };

struct Schedule {
  Order order{};
  LaunchId launch{};
  ScanId scan{};
  Loop loop = Loop::kv_inner;
  Dq dq = Dq::atomic;          // of the backward pass
  bool small_kernels = false;  // of it: also rowsum(dO * O) before, and dQ to its type behind
  int64_t workers = 1;
  int64_t kv_split = 1;  // parts of an item's scan as items of their own, of the K/V range, in the
                         // backward pass of the group's heads; 1 under kv_outer
  int64_t prefetch = 0;  // distance in steps of the wave prefetch; 0 is off
  uint64_t seed = 0;     // read by the random scan only
};

/// One unit of work: `own_tile`, a Q tile, scans K/V tiles. Of the backward pass it is a K/V tile,
/// and scans Q tiles of `head` and of its part's heads behind it. Under kv_outer `own_tile` is 0
/// and `scanned` are all K/V tiles of the head.
struct Item {
  int64_t index = 0;
  int64_t batch = 0;
  int64_t head = 0;  // a query head, of the backward pass the first of its part of the group
  int64_t kv_head = 0;
  int64_t own_tile = 0;
  int64_t part = 0;
  Range scanned{};  // visible tiles, or places in the mask's lists; empty items exist, write their
                    // results, count for parity
  Pieces pieces{};  // more than one: each leaves a partial result, the last merges them
};

/// Query heads that an item of the backward pass scans, one after the other.
SAWTOOTH_HD constexpr int64_t heads_of_item(const Problem& problem, const Schedule& schedule) {
  return problem.heads_per_kv_head() / schedule.kv_split;
}

/// Whether the items of the last wave are cut into pieces; those of kv-split are small already.
SAWTOOTH_HD constexpr bool cuts_last_wave(const Schedule& schedule) {
  return schedule.launch == launch_id<BalancedLaunch> && schedule.loop == Loop::kv_inner &&
         schedule.kv_split == 1;
}

SAWTOOTH_HD constexpr LastWave last_wave(const Problem& problem, const Tiling& tiling,
                                         const Schedule& schedule) {
  return {problem.batch * problem.heads * q_tiles(problem, tiling), kv_tiles(problem, tiling),
          schedule.workers};
}

/// Items of the order, none of them cut. Kernels name their pass, so that it costs them nothing.
SAWTOOTH_HD constexpr int64_t whole_item_count(const Problem& problem, const Tiling& tiling,
                                               const Schedule& schedule, Pass pass) {
  const int64_t heads = problem.batch * problem.item_heads(pass);
  return schedule.loop == Loop::kv_outer
             ? heads
             : heads * schedule.kv_split * item_tiles(problem, tiling, pass);
}
SAWTOOTH_HD constexpr int64_t whole_item_count(const Problem& problem, const Tiling& tiling,
                                               const Schedule& schedule) {
  return whole_item_count(problem, tiling, schedule, problem.pass);
}

/// Items of the order, with the places for pieces of the last wave where it is cut.
SAWTOOTH_HD constexpr int64_t item_count(const Problem& problem, const Tiling& tiling,
                                         const Schedule& schedule) {
  return cuts_last_wave(schedule) ? last_wave(problem, tiling, schedule).places()
                                  : whole_item_count(problem, tiling, schedule);
}

/// The tiles that an item with these coordinates scans.
SAWTOOTH_HD constexpr Range scanned_by(const Problem& problem, const Tiling& tiling,
                                       const Schedule& schedule, const WorkCoordinates& work,
                                       Pass pass) {
  if (pass == Pass::backward) return scanned_tiles(problem, tiling, work.own_tile, pass);
  const int64_t all_kv_tiles = kv_tiles(problem, tiling);
  const Range visible = schedule.loop == Loop::kv_outer
                            ? Range{0, all_kv_tiles}
                            : visible_kv_tiles(problem, tiling, work.own_tile);
  if (is_listed(problem.mask) && schedule.loop == Loop::kv_inner) {
    const Range part = part_of({0, all_kv_tiles}, work.part, schedule.kv_split, all_kv_tiles);
    return problem.mask.listed->of_q.within(visible, part);
  }
  return part_of(visible, work.part, schedule.kv_split, all_kv_tiles);
}

/// Item `index` of the order, not cut; 0 <= index < whole_item_count.
SAWTOOTH_HD constexpr Item whole_item_at(const Problem& problem, const Tiling& tiling,
                                         const Schedule& schedule, int64_t index, Pass pass) {
  const int64_t ranks = schedule.loop == Loop::kv_outer ? 1 : item_tiles(problem, tiling, pass);
  const WorkCoordinates work =
      work_at(problem, schedule.order, ranks, schedule.kv_split, index, pass);
  const bool forward = pass == Pass::forward;
  return {.index = index,
          .batch = work.batch,
          .head = forward ? work.head
                          : work.head * problem.heads_per_kv_head() +
                                work.part * heads_of_item(problem, schedule),
          .kv_head = forward ? problem.kv_head_of(work.head) : work.head,
          .own_tile = work.own_tile,
          .part = work.part,
          .scanned = scanned_by(problem, tiling, schedule, work, pass)};
}
SAWTOOTH_HD constexpr Item whole_item_at(const Problem& problem, const Tiling& tiling,
                                         const Schedule& schedule, int64_t index) {
  return whole_item_at(problem, tiling, schedule, index, problem.pass);
}

/// Item or piece `index` of the order; 0 <= index < item_count.
SAWTOOTH_HD constexpr Item item_at(const Problem& problem, const Tiling& tiling,
                                   const Schedule& schedule, int64_t index) {
  if (!cuts_last_wave(schedule)) return whole_item_at(problem, tiling, schedule, index);
  const LastWave wave = last_wave(problem, tiling, schedule);
  if (!wave.cuts(index)) return whole_item_at(problem, tiling, schedule, index);
  const PiecePlace place = wave.place(index);
  Item item = whole_item_at(problem, tiling, schedule, wave.item(place));
  item.index = index;
  item.scanned = is_listed(problem.mask)
                     ? problem.mask.listed->of_q.within(item.scanned, wave.tiles(place))
                     : intersection(item.scanned, wave.tiles(place));
  item.pieces = wave.pieces(place);
  return item;
}

/// The worker's own counter, which a CTA under grid does not have: there the number of the wave.
SAWTOOTH_HD constexpr int64_t items_before_of(const Schedule& schedule, int64_t index,
                                              int64_t counter) {
  return schedule.launch == launch_id<GridLaunch> ? index / schedule.workers : counter;
}

/// What the scan of `item` may look at, with its items_before_of. `attach_tile` is the tile last
/// started on this K/V head (0 at first), read when the item starts.
SAWTOOTH_HD constexpr ScanContext scan_context_after(int64_t items_before, const Schedule& schedule,
                                                     const Item& item, int64_t attach_tile) {
  const int64_t last = max_of(item.scanned.begin, item.scanned.end - 1);
  return {.tiles = item.scanned.size(),
          .item = item.index,
          .items_before = items_before,
          .own_tile = item.own_tile,
          .workers = schedule.workers,
          .attach_position = clamp_to(attach_tile, item.scanned.begin, last) - item.scanned.begin,
          .seed = schedule.seed};
}

/// The same with the worker's own counter.
SAWTOOTH_HD constexpr ScanContext scan_context(const Schedule& schedule, const Item& item,
                                               int64_t counter, int64_t attach_tile) {
  return scan_context_after(items_before_of(schedule, item.index, counter), schedule, item,
                            attach_tile);
}

/// The tile that step `step` of `item` visits, in one head; 0 <= step < item.scanned.size().
SAWTOOTH_HD constexpr int64_t scanned_tile_at(const Schedule& schedule, const Item& item,
                                              const ScanContext& context, int64_t step) {
  return item.scanned.begin + scan_position(schedule.scan, context, step);
}

/// Under kv_outer the scan orders the Q tiles inside one K/V tile, and turns with the K/V tile's
/// index: `tiles` is the number of Q tiles that see K/V tile `kv_tile`.
SAWTOOTH_HD constexpr ScanContext kv_outer_scan_context(const Schedule& schedule, const Item& item,
                                                        int64_t kv_tile, int64_t tiles) {
  return {.tiles = tiles,
          .item = item.index,
          .items_before = kv_tile,
          .own_tile = kv_tile,
          .workers = schedule.workers,
          .attach_position = 0,
          .seed = mix_seed(schedule.seed, uint64_t(kv_tile))};
}

// Names of how the backward pass adds up dQ, as the command line and the C API have them.

struct DqName {
  std::string_view name;
  Dq dq;
};

inline constexpr std::array<DqName, 3> dq_names{
    {{"atomic", Dq::atomic}, {"ordered", Dq::ordered}, {"separate", Dq::separate}}};

}  // namespace sawtooth
