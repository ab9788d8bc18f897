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

/// Bytes of bf16 and fp16. The forward kernels take theirs from the type: fp32 has four.
inline constexpr int element_size = 2;

/// What an item of either pass is.
struct ItemState {
  Item item;
  ScanContext context;        // of one head; the backward pass scans every head of the group
  int64_t items_before = -1;  // of this CTA, before this item
  int64_t next_index = 0;     // the item's index; item_count when there is none left
  Range unmasked;             // tiles of the scan that need no mask
};

/// An item of the forward pass.
struct WorkItem : ItemState {
  int first_line = 0;  // lines of a tile that this item prefetches
  int end_line = 0;
  const char* k_head = nullptr;  // first element of this head's K and V
  const char* v_head = nullptr;
};

template <int Threads>
struct ScanTable {
  static constexpr int no_tile = -1;
  int now[2 * Threads];    // the tile of step s at s mod 2 Threads
  int ahead[2 * Threads];  // the tile to prefetch during step s, or no_tile

  /// Fills steps [first, first + Threads) from thread t's step first + t, of an item that scans the
  /// same tiles of `heads` heads, one after another.
  __device__ void fill(const Schedule& schedule, const ItemState& work, int64_t first,
                       int heads = 1) {
    const int64_t step = first + thread_number();
    const int64_t steps = work.context.tiles * heads;
    const int64_t later = step + schedule.prefetch;
    const auto tile_at = [&](int64_t of_all) {
      const int64_t in_head =
          heads == 1 ? of_all : int64_t(unsigned(of_all) % unsigned(work.context.tiles));
      return int(scanned_tile_at(schedule, work.item, work.context, in_head));
    };
    const int slot = int(step % (2 * Threads));
    now[slot] = step < steps ? tile_at(step) : no_tile;
    ahead[slot] = schedule.prefetch > 0 && later < steps ? tile_at(later) : no_tile;
  }
  __device__ int tile(int step) const { return now[step % (2 * Threads)]; }
  __device__ int tile_ahead(int step) const { return ahead[step % (2 * Threads)]; }
};

/// The same where scans order places in a list: the table has the entries that stand there.
template <int Threads>
struct ListedScanTable : ScanTable<Threads> {
  using Table = ScanTable<Threads>;
  const int32_t* entries;  // of all places

  __device__ void fill(const Schedule& schedule, const ItemState& work, int64_t first) {
    Table::fill(schedule, work, first);
    const int slot = int((first + thread_number()) % (2 * Threads));
    for (int* place : {&this->now[slot], &this->ahead[slot]})
      if (*place != Table::no_tile) *place = entries[*place];
  }
  __device__ int tile(int step) const { return tile_of_entry(Table::tile(step)); }
  __device__ bool partial(int step) const { return is_partial(Table::tile(step)); }
  __device__ int tile_ahead(int step) const {
    const int entry = Table::tile_ahead(step);
    return entry == Table::no_tile ? entry : tile_of_entry(entry);
  }
};

/// The attach word of the item's K/V head.
template <class Arguments>
__device__ inline volatile int* attach_word(const Arguments& arguments, const Item& item) {
  return arguments.attach_tiles + item.batch * arguments.problem.kv_heads + item.kv_head;
}

/// The items of an order: of sequences of one length all.
struct WholeItems {
  static constexpr bool listed = false;
  template <class Arguments>
  __device__ int64_t count(const Arguments& arguments, const Tiling& tiling) const {
    return whole_item_count(arguments.problem, tiling, arguments.schedule, Arguments::pass);
  }
  __device__ void enter(int64_t) const {}
};

/// The same where the mask is lists: an item scans places in them.
struct ListedItems : WholeItems {
  static constexpr bool listed = true;
  const BlockLists& lists;
  __device__ explicit ListedItems(const BlockLists& of_mask) : lists(of_mask) {}

  /// Places of the item's list; of a part those of its tiles.
  __device__ Range places(const ForwardArguments& arguments, const Tiling& tiling,
                          const Item& item) const {
    const TileLists& entries = lists.entries;
    const Range all = entries.places(item.own_tile);
    const int64_t parts = arguments.schedule.kv_split;
    if (parts == 1) return all;
    const int64_t tiles = kv_tiles(arguments.problem, tiling);
    return entries.within(all, entries_of(part_of({0, tiles}, item.part, parts, tiles)));
  }
  /// Where attach begins that wants `tile`.
  __device__ int64_t place_from(const Item& item, int64_t tile) const {
    return lists.entries.first_from(item.scanned, entries_of({tile, 0}).begin);
  }
  /// Keys that row `row` sees of its tiles; row < seq_q or not.
  __device__ KeySpans spans_of(const Problem& problem, int row) const {
    if (lists.spans == nullptr) return {0, 0, 0, int32_t(problem.seq_kv)};
    const int last = int(problem.seq_q) - 1;
    return lists.spans[row < last ? row : last];
  }
};

/// Packed sequences use the list's items. Entering one makes `of_sequence`, in shared memory, the
/// arguments of a call on its sequence alone, but for the batch, which tells attach's words apart.
struct PackedItems {
  static constexpr bool listed = false;
  const PackedArguments& arguments;
  ForwardArguments& of_sequence;

  __device__ int64_t count(const ForwardArguments&, const Tiling&) const { return arguments.items; }
  __device__ void enter(int64_t index) const {
    const WorkCoordinates work = arguments.schedule.order.list[index];
    const PackedSequence sequence = arguments.sequences[work.batch];
    const auto from = [](const void* tensor, const Strides& strides, int64_t row) {
      return static_cast<const char*>(tensor) + strides.offset(0, 0, row) * element_size;
    };
    of_sequence.problem.seq_q = sequence.seq_q;
    of_sequence.problem.seq_kv = sequence.seq_kv;
    of_sequence.q = from(arguments.q, arguments.q_strides, sequence.first_q);
    of_sequence.k = from(arguments.k, arguments.k_strides, sequence.first_kv);
    of_sequence.v = from(arguments.v, arguments.v_strides, sequence.first_kv);
    of_sequence.o = const_cast<char*>(from(arguments.o, arguments.o_strides, sequence.first_q));
    if (arguments.lse == nullptr) return;
    // So that this head's rows, placed as those of [batch, heads, seq_q], lie where [heads, all
    // rows] has them.
    const int64_t flat_head = work.batch * arguments.problem.heads + work.head;
    of_sequence.lse = arguments.lse + work.head * arguments.q_rows + sequence.first_q -
                      flat_head * sequence.seq_q;
  }
};

/// One thread: replaces `work` by the CTA's next item of the arguments' pass; false, and
/// `next_index` = the count of items, when it has none. Leaves `unmasked` to the pass.
template <class Arguments, class Items = WholeItems>
__device__ inline bool take_item(const Arguments& arguments, const Tiling& tiling, ItemState& work,
                                 const Items& all = {}) {
  constexpr Pass pass = Arguments::pass;
  const Schedule& schedule = arguments.schedule;
  const int64_t items = all.count(arguments, tiling);
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
  if (index >= items) return false;

  all.enter(index);
  work.item = whole_item_at(arguments.problem, tiling, schedule, index, pass);
  const bool attach = schedule.scan == scan_id<AttachScan>;
  const int64_t attach_tile = attach ? *attach_word(arguments, work.item) : 0;
  if constexpr (Items::listed) {
    work.item.scanned = all.places(arguments, tiling, work.item);
    work.context = scan_context(schedule, work.item, turn, all.place_from(work.item, attach_tile));
  } else {
    work.context = scan_context(schedule, work.item, turn, attach_tile);
  }
  if (arguments.trace.items != nullptr) {
    const int64_t heads =
        pass == Pass::forward ? 1 : heads_of_item(arguments.problem, arguments.schedule);
    ItemRecord& record = arguments.trace.items[index];
    record.start_ns = nanoseconds();
    record.worker = blockIdx.x;
    record.items_before = work.context.items_before;
    record.attach_tile = attach_tile;
    record.steps = int(work.context.tiles * heads);
    atomicAdd(&record.times_started, 1u);
  }
  return true;
}

/// take_item, and what the forward pass wants to know of it. `ElementBytes` of Q, K and V.
template <int ElementBytes, class Items>
__device__ inline void take_next_item(const ForwardArguments& arguments, const Tiling& tiling,
                                      WorkItem& work, const Items& items) {
  if (!take_item(arguments, tiling, work, items)) return;
  const Schedule& schedule = arguments.schedule;
  work.unmasked = unmasked_kv_tiles(arguments.problem, tiling, work.item.own_tile);
  work.k_head = static_cast<const char*>(arguments.k) +
                arguments.k_strides.offset(work.item.batch, work.item.kv_head, 0) * ElementBytes;
  work.v_head = static_cast<const char*>(arguments.v) +
                arguments.v_strides.offset(work.item.batch, work.item.kv_head, 0) * ElementBytes;
  if (schedule.prefetch > 0) {
    const Range lines = prefetch_share(arguments.problem, tiling, schedule, work.next_index)
                            .lines_of(tiling.kv_rows * arguments.problem.row_bytes() / line_bytes);
    work.first_line = int(lines.begin);
    work.end_line = int(lines.end);
  }
}

/// One thread, at the start of a step: leaves the word that attach reads and the trace's record.
template <class Arguments>
__device__ inline void announce_step(const Arguments& arguments, const ItemState& work, int step,
                                     int tile) {
  if (arguments.schedule.scan == scan_id<AttachScan>) *attach_word(arguments, work.item) = tile;
  if (arguments.trace.steps != nullptr)
    arguments.trace.steps[work.item.index * arguments.trace.steps_per_item + step] = {
        .start_ns = nanoseconds(), .kv_tile = tile, .sm = int32_t(sm_number())};
}

}  // namespace sawtooth::kernels
