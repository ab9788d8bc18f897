// The item that a CTA works on, in shared memory: found by one thread, read by all, and its scan
// as a table.
//
// The scan is evaluated by all threads at once, one step each, so that its integer work is a few
// instructions a CTA and step whatever the policy costs. The table is a ring of two blocks of
// `Threads` steps: while one is used the next is filled.
#pragma once

#include <cstdint>

#include "kernels/common/ticket.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/ptx.cuh"
#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels {

inline constexpr int element_size = 2;  // bytes: bf16 and fp16

struct WorkItem {
  Item item;
  ScanContext context;
  int64_t items_before = -1;  // of this CTA, before this item
  int64_t next_index = 0;     // the item's index; item_count when there is none left
  Range unmasked;             // K/V tiles that need no mask
  int first_line = 0;         // lines of a tile that this item prefetches
  int end_line = 0;
  const char* k_head = nullptr;  // first element of this head's K and V
  const char* v_head = nullptr;
};

template <int Threads>
struct ScanTable {
  static constexpr int no_tile = -1;
  int now[2 * Threads];    // the tile of step s at s mod 2 Threads
  int ahead[2 * Threads];  // the tile to prefetch during step s, or no_tile

  /// Fills steps [first, first + Threads) from thread t's step first + t.
  __device__ void fill(const Schedule& schedule, const WorkItem& work, int64_t first) {
    const int64_t step = first + thread_number();
    const int64_t steps = work.context.tiles;
    const int64_t later = step + schedule.prefetch;
    const int slot = int(step % (2 * Threads));
    now[slot] =
        step < steps ? int(scanned_tile_at(schedule, work.item, work.context, step)) : no_tile;
    ahead[slot] = schedule.prefetch > 0 && later < steps
                      ? int(scanned_tile_at(schedule, work.item, work.context, later))
                      : no_tile;
  }
  __device__ int tile(int step) const { return now[step % (2 * Threads)]; }
  __device__ int tile_ahead(int step) const { return ahead[step % (2 * Threads)]; }
};

/// The attach word of the item's K/V head.
__device__ inline volatile int* attach_word(const ForwardArguments& arguments, const Item& item) {
  return arguments.attach_tiles + item.batch * arguments.problem.kv_heads + item.kv_head;
}

/// One thread: replaces `work` by the CTA's next item; `next_index` = item_count when it has none.
__device__ inline void take_next_item(const ForwardArguments& arguments, const Tiling& tiling,
                                      WorkItem& work) {
  const Schedule& schedule = arguments.schedule;
  const int64_t items = whole_item_count(arguments.problem, tiling, schedule, Pass::forward);
  const int64_t turn = work.items_before + 1;
  int64_t index = 0;
  if (schedule.launch == launch_id<DynamicLaunch>)
    index = draw_ticket(arguments.ticket, items, gridDim.x);
  else if (schedule.launch == launch_id<StaticLaunch>)
    index = blockIdx.x + turn * schedule.workers;
  else
    index = turn == 0 ? int64_t(blockIdx.x) : items;
  work.next_index = min_of(index, items);
  work.items_before = turn;
  if (index >= items) return;

  work.item = whole_item_at(arguments.problem, tiling, schedule, index, Pass::forward);
  const bool attach = schedule.scan == scan_id<AttachScan>;
  const int64_t attach_tile = attach ? *attach_word(arguments, work.item) : 0;
  work.context = scan_context(schedule, work.item, turn, attach_tile);
  work.unmasked = unmasked_kv_tiles(arguments.problem, tiling, work.item.own_tile);
  work.k_head = static_cast<const char*>(arguments.k) +
                arguments.k_strides.offset(work.item.batch, work.item.kv_head, 0) * element_size;
  work.v_head = static_cast<const char*>(arguments.v) +
                arguments.v_strides.offset(work.item.batch, work.item.kv_head, 0) * element_size;
  if (schedule.prefetch > 0) {
    const Range lines = prefetch_share(arguments.problem, tiling, schedule, index)
                            .lines_of(tiling.kv_rows * arguments.problem.row_bytes() / line_bytes);
    work.first_line = int(lines.begin);
    work.end_line = int(lines.end);
  }
  if (arguments.trace.items != nullptr) {
    ItemRecord& record = arguments.trace.items[index];
    record.start_ns = nanoseconds();
    record.worker = blockIdx.x;
    record.items_before = work.context.items_before;
    record.attach_tile = attach_tile;
    record.steps = int(work.context.tiles);
    atomicAdd(&record.times_started, 1u);
  }
}

/// One thread, at the start of a step: leaves the word that attach reads and the trace's record.
__device__ inline void announce_step(const ForwardArguments& arguments, const WorkItem& work,
                                     int step, int kv_tile) {
  if (arguments.schedule.scan == scan_id<AttachScan>) *attach_word(arguments, work.item) = kv_tile;
  if (arguments.trace.steps != nullptr)
    arguments.trace.steps[work.item.index * arguments.trace.steps_per_item + step] = {
        .start_ns = nanoseconds(), .kv_tile = kv_tile, .sm = int32_t(sm_number())};
}

}  // namespace sawtooth::kernels
