// The scheduler: one thread that turns the launch rule into items and hands them on through three
// slots. It works up to two items ahead of the others, and draws a ticket when the item before
// ends, so index arithmetic and tickets cost no time.
#pragma once

#include "kernels/common/ticket.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/shape.hpp"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/mask_range.hpp"
#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"

namespace sawtooth::kernels::hopper {

/// The warp serves either pass; `Hand` is a HandOver.
template <class Shape, class Hand>
class SchedulerWarp {
  static constexpr Pass pass = Hand::Arguments::pass;
  static constexpr bool forward = pass == Pass::forward;

 public:
  __device__ explicit SchedulerWarp(Hand& shared) : shared_(shared) {}

  __device__ void run() {
    if (reads_global_memory()) wait_for_launch_before();
    prepare();
    for (shared_.scratch.turn = 0;; ++shared_.scratch.turn) {
      shared_.slot_empty[stage()].wait(parity());
      auto& slot = shared_.slots[stage()];
      slot.item.index = next_item(shared_.scratch.turn);
      describe_item(slot);
      shared_.slot_full[stage()].arrive();
      if (slot.last) return;
    }
  }

 private:
  /// Item number `turn` of this worker, or at least the item count when there is none.
  __device__ int64_t next_item(int64_t turn) const {
    const int64_t worker = cta_number();
    if (schedule().launch == launch_id<DynamicLaunch>) {
      if constexpr (begins_without_ticket<Shape>) {
        if (turn == 0) return worker;
        wait_for_launch_before();
        if (shared_.scratch.draws_late) wait_for_end_of_items();
        return draw_later_ticket(shared_.arguments.ticket, shared_.scratch.items, gridDim.x);
      }
      if (shared_.scratch.draws_late) wait_for_end_of_items();
      return draw_ticket(shared_.arguments.ticket, shared_.scratch.items, gridDim.x);
    }
    if (strides(schedule().launch)) return worker + turn * schedule().workers;
    return turn == 0 ? worker : INT64_MAX;
  }

  /// Waits until the items before have few tiles left: a ticket drawn earlier would bind an item to
  /// a CTA that is not free for long.
  __device__ void wait_for_end_of_items() const {
    constexpr unsigned poll_ns = 100;
    while (int32_t(shared_.scratch.steps - atomicAdd(&shared_.scan_steps, 0u)) > ticket_lead_tiles)
      __nanosleep(poll_ns);
  }

  /// All that is known of item `slot.item.index` before it starts. Every step reads what it needs
  /// from shared memory and leaves its result there, because this warp has few registers.
  template <class Slot>
  __device__ void describe_item(Slot& slot) const {
    SchedulerScratch& scratch = shared_.scratch;
    slot.last = slot.item.index >= scratch.items;
    if (slot.last) return;
    find_piece(slot);
    find_work();
    if constexpr (Hand::packed) enter_sequence(slot);
    const Problem& problem = problem_of(slot);
    slot.item.batch = scratch.work.batch;
    if constexpr (forward) slot.item.head = scratch.work.head;
    slot.item.own_tile = scratch.work.own_tile;
    slot.item.part = scratch.work.part;
    forget_registers();
    if constexpr (forward) {
      slot.item.kv_head = problem.kv_head_of(scratch.work.head);
    } else {
      slot.item.kv_head = scratch.work.head;
      slot.heads = int(problem.heads) / int(problem.kv_heads) / int(schedule().kv_split);
      forget_registers();
      slot.item.head = (scratch.work.head * schedule().kv_split + scratch.work.part) * slot.heads;
    }
    forget_registers();
    if constexpr (Hand::listed) {
      find_places(slot);
    } else {
      slot.item.scanned = scanned_by(problem, Shape::tiling(), schedule(), scratch.work, pass);
      forget_registers();
      if (forward && scratch.is_piece) {
        slot.item.scanned = intersection(slot.item.scanned, scratch.tiles);
        forget_registers();
      }
    }
    slot.scan.items_before = items_before_of(schedule(), slot.item.index, scratch.turn);
    forget_registers();
    slot.scan = scan_context_after(slot.scan.items_before, schedule(), slot.item, 0);
    forget_registers();
    if constexpr (forward) {
      if constexpr (!Hand::listed)
        slot.unmasked = unmasked_kv_tiles(problem, Shape::tiling(), slot.item.own_tile);
      forget_registers();
      if (schedule().prefetch > 0) share_prefetch(slot);
      scratch.steps += uint32_t(slot.scan.tiles);
    } else {
      slot.unmasked = unmasked_q_tiles(problem, Shape::tiling(), slot.item.own_tile);
      forget_registers();
      slot.steps = int(slot.scan.tiles) * slot.heads;
      scratch.steps += uint32_t(slot.steps);
    }
  }

  /// The places of the item's list; of a part or a piece those of its tiles.
  __device__ void find_places(WorkSlot& slot) const {
    SchedulerScratch& scratch = shared_.scratch;
    const TileLists& entries = shared_.arguments.lists.entries;
    slot.item.scanned = entries.places(slot.item.own_tile);
    forget_registers();
    if (!scratch.is_piece && schedule().kv_split == 1) return;
    if (!scratch.is_piece) {
      const int64_t tiles = kv_tiles(shared_.arguments.problem, Shape::tiling());
      scratch.tiles = part_of({0, tiles}, slot.item.part, schedule().kv_split, tiles);
      forget_registers();
    }
    slot.item.scanned = entries.within(slot.item.scanned, entries_of(scratch.tiles));
    forget_registers();
  }

  /// The problem of the item's sequence.
  __device__ void enter_sequence(PackedSlot& slot) const {
    const PackedSequence sequence = shared_.arguments.sequences[shared_.scratch.work.batch];
    slot.problem = shared_.arguments.problem;
    slot.problem.seq_q = sequence.seq_q;
    slot.problem.seq_kv = sequence.seq_kv;
    slot.first_q = sequence.first_q;
    forget_registers();
  }
  template <class Slot>
  __device__ const Problem& problem_of(const Slot& slot) const {
    if constexpr (Hand::packed) {
      return slot.problem;
    } else {
      return shared_.arguments.problem;
    }
  }

  /// What holds for all items.
  __device__ void prepare() const {
    SchedulerScratch& scratch = shared_.scratch;
    const Problem& problem = shared_.arguments.problem;
    scratch.steps = 0;
    constexpr int64_t few_rows = 2 * ticket_lead_tiles * (forward ? Shape::kv_rows : Shape::q_rows);
    scratch.draws_late = (problem.mask.kind != MaskKind::none &&
                          (forward ? problem.seq_kv : problem.seq_q) > few_rows) ||
                         (!forward && schedule().dq == Dq::ordered);
    scratch.ranks = item_tiles(problem, Shape::tiling(), pass);
    forget_registers();
    if constexpr (Hand::packed) {
      scratch.items = shared_.arguments.items;
    } else if (forward && cuts_last_wave(schedule())) {
      scratch.last_wave = last_wave(problem, Shape::tiling(), schedule());
      forget_registers();
      scratch.items = scratch.last_wave.places();
    } else {
      scratch.items = whole_item_count(problem, Shape::tiling(), schedule(), pass);
    }
    forget_registers();
  }

  /// Finds the item in the order, and where it is a piece of one, of which and of how many.
  __device__ void find_piece(WorkSlot& slot) const {
    SchedulerScratch& scratch = shared_.scratch;
    slot.item.pieces = {};
    scratch.item_number = slot.item.index;
    scratch.is_piece = forward && !Hand::packed && cuts_last_wave(schedule()) &&
                       scratch.last_wave.cuts(slot.item.index);
    if (!forward || !scratch.is_piece) return;
    scratch.piece.share = scratch.last_wave.share_at(slot.item.index);
    forget_registers();
    scratch.piece.number = scratch.last_wave.number_at(slot.item.index, scratch.piece.share);
    forget_registers();
    scratch.item_number = scratch.last_wave.item(scratch.piece);
    forget_registers();
    scratch.begin = scratch.last_wave.begin(scratch.piece.share);
    forget_registers();
    scratch.end = scratch.last_wave.begin(scratch.piece.share + 1);
    forget_registers();
    cut_piece(slot);
  }

  __device__ void cut_piece(WorkSlot& slot) const {
    SchedulerScratch& scratch = shared_.scratch;
    scratch.tiles = scratch.last_wave.tiles_between(scratch.begin, scratch.end, scratch.piece);
    forget_registers();
    if (scratch.tiles.empty()) {
      slot.item.pieces.count = 0;
      return;
    }
    slot.item.pieces.first = scratch.last_wave.first_piece(scratch.piece.number);
    forget_registers();
    slot.item.pieces.count = scratch.last_wave.last_piece(scratch.piece.number);
    forget_registers();
    slot.item.pieces.count += 1 - slot.item.pieces.first;
    slot.item.pieces.own = scratch.piece.share + scratch.piece.number;
    forget_registers();
  }

  __device__ void find_work() const {
    const Problem& problem = shared_.arguments.problem;
    SchedulerScratch& scratch = shared_.scratch;
    if (schedule().order.list != nullptr) {
      scratch.work = schedule().order.list[scratch.item_number];
      forget_registers();
      return;
    }
    scratch.all_heads = problem.batch * problem.item_heads(pass) * schedule().kv_split;
    forget_registers();
    scratch.place =
        section_of(scratch.item_number, schedule().order.section, scratch.all_heads, scratch.ranks);
    forget_registers();
    scratch.place.move_to(scratch.item_number);
    forget_registers();
    scratch.work = work_at_place(problem, schedule().order, scratch.ranks, schedule().kv_split,
                                 scratch.place, pass);
    forget_registers();
  }

  __device__ void share_prefetch(WorkSlot& slot) const {
    constexpr int64_t lines_a_tile =
        Shape::kv_rows * Shape::head_dim * int64_t(sizeof(typename Shape::Element)) / line_bytes;
    SchedulerScratch& scratch = shared_.scratch;
    scratch.share = {};
    if (schedule().order.list == nullptr && !scratch.is_piece) {
      scratch.wave = wave_in_section(schedule(), slot.item.index, scratch.ranks, scratch.place);
      forget_registers();
      scratch.share = share_in_wave(slot.item.index, scratch.place, scratch.wave);
      forget_registers();
    }
    slot.prefetch_lines = scratch.share.lines_of(lines_a_tile);
    forget_registers();
  }

  /// For the first item: tickets and lists; all else is worked out while the launch before still
  /// runs.
  __device__ bool reads_global_memory() const {
    return Hand::listed ||
           (!begins_without_ticket<Shape> && schedule().launch == launch_id<DynamicLaunch>) ||
           schedule().order.list != nullptr;
  }

  __device__ uint32_t stage() const { return shared_.scratch.turn % work_slots; }
  /// What a producer waits for in this turn: 1 at first.
  __device__ uint32_t parity() const { return shared_.scratch.turn / work_slots % 2 ^ 1; }
  __device__ static void forget_registers() { asm volatile("" ::: "memory"); }
  __device__ const Schedule& schedule() const { return shared_.arguments.schedule; }

  Hand& shared_;
};

}  // namespace sawtooth::kernels::hopper
