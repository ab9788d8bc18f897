// The schedule: order + launch + scan + prefetch, one trivially copyable value that the simulator
// replays and the kernels execute. Everything that decides what runs next is a function here.
#pragma once

#include <cstdint>

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

struct Schedule {
  Order order{};
  LaunchId launch{};
  ScanId scan{};
  Loop loop = Loop::kv_inner;
  int64_t workers = 1;
  int64_t kv_split = 1;  // parts of the K/V range as items of their own; 1 under kv_outer
  int64_t prefetch = 0;  // distance in steps of the wave prefetch; 0 is off
  uint64_t seed = 0;     // read by the random scan only
};

/// One unit of work. Under kv_outer `q_tile` is 0 and `kv_tiles` are all tiles of the head.
struct Item {
  int64_t index = 0;
  int64_t batch = 0;
  int64_t head = 0;
  int64_t kv_head = 0;
  int64_t q_tile = 0;
  int64_t part = 0;
  Range kv_tiles{};  // visible K/V tiles; empty items exist, write O and count for parity
  Pieces pieces{};   // more than one: each leaves a partial result, the last merges them
};

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

/// Items of the order, none of them cut.
SAWTOOTH_HD constexpr int64_t whole_item_count(const Problem& problem, const Tiling& tiling,
                                               const Schedule& schedule) {
  const int64_t heads = problem.batch * problem.heads;
  return schedule.loop == Loop::kv_outer ? heads
                                         : heads * schedule.kv_split * q_tiles(problem, tiling);
}

/// Items of the order, with the places for pieces of the last wave where it is cut.
SAWTOOTH_HD constexpr int64_t item_count(const Problem& problem, const Tiling& tiling,
                                         const Schedule& schedule) {
  return cuts_last_wave(schedule) ? last_wave(problem, tiling, schedule).places()
                                  : whole_item_count(problem, tiling, schedule);
}

/// The K/V tiles that an item with these coordinates visits.
SAWTOOTH_HD constexpr Range kv_tiles_of(const Problem& problem, const Tiling& tiling,
                                        const Schedule& schedule, const WorkCoordinates& work) {
  const int64_t all_kv_tiles = kv_tiles(problem, tiling);
  const Range visible = schedule.loop == Loop::kv_outer
                            ? Range{0, all_kv_tiles}
                            : visible_kv_tiles(problem, tiling, work.q_tile);
  return part_of(visible, work.part, schedule.kv_split, all_kv_tiles);
}

/// Item `index` of the order, not cut; 0 <= index < whole_item_count.
SAWTOOTH_HD constexpr Item whole_item_at(const Problem& problem, const Tiling& tiling,
                                         const Schedule& schedule, int64_t index) {
  const int64_t ranks = schedule.loop == Loop::kv_outer ? 1 : q_tiles(problem, tiling);
  const WorkCoordinates work = work_at(problem, schedule.order, ranks, schedule.kv_split, index);
  return {.index = index,
          .batch = work.batch,
          .head = work.head,
          .kv_head = problem.kv_head_of(work.head),
          .q_tile = work.q_tile,
          .part = work.part,
          .kv_tiles = kv_tiles_of(problem, tiling, schedule, work)};
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
  item.kv_tiles = intersection(item.kv_tiles, wave.tiles(place));
  item.pieces = wave.pieces(place);
  return item;
}

/// The worker's own counter, which a CTA under grid does not have: there the number of the wave.
SAWTOOTH_HD constexpr int64_t items_before_of(const Schedule& schedule, int64_t index,
                                              int64_t counter) {
  return schedule.launch == launch_id<GridLaunch> ? index / schedule.workers : counter;
}

/// What the scan of `item` may look at, with its items_before_of. `attach_tile` is the K/V tile
/// last started on this K/V head (0 at first), read when the item starts.
SAWTOOTH_HD constexpr ScanContext scan_context_after(int64_t items_before, const Schedule& schedule,
                                                     const Item& item, int64_t attach_tile) {
  const int64_t last = max_of(item.kv_tiles.begin, item.kv_tiles.end - 1);
  return {.tiles = item.kv_tiles.size(),
          .item = item.index,
          .items_before = items_before,
          .q_tile = item.q_tile,
          .workers = schedule.workers,
          .attach_position = clamp_to(attach_tile, item.kv_tiles.begin, last) - item.kv_tiles.begin,
          .seed = schedule.seed};
}

/// The same with the worker's own counter.
SAWTOOTH_HD constexpr ScanContext scan_context(const Schedule& schedule, const Item& item,
                                               int64_t counter, int64_t attach_tile) {
  return scan_context_after(items_before_of(schedule, item.index, counter), schedule, item,
                            attach_tile);
}

/// The K/V tile that step `step` of `item` visits; 0 <= step < item.kv_tiles.size().
SAWTOOTH_HD constexpr int64_t kv_tile_at(const Schedule& schedule, const Item& item,
                                         const ScanContext& context, int64_t step) {
  return item.kv_tiles.begin + scan_position(schedule.scan, context, step);
}

/// Under kv_outer the scan orders the Q tiles inside one K/V tile, and turns with the K/V tile's
/// index: `tiles` is the number of Q tiles that see K/V tile `kv_tile`.
SAWTOOTH_HD constexpr ScanContext kv_outer_scan_context(const Schedule& schedule, const Item& item,
                                                        int64_t kv_tile, int64_t tiles) {
  return {.tiles = tiles,
          .item = item.index,
          .items_before = kv_tile,
          .q_tile = kv_tile,
          .workers = schedule.workers,
          .attach_position = 0,
          .seed = mix_seed(schedule.seed, uint64_t(kv_tile))};
}

}  // namespace sawtooth
