// The scheduler: one thread that turns the launch rule into items and hands them on through two
// slots. It works one item ahead of the others, so index arithmetic and tickets cost no time.
//
// The CTAs of a cluster are one worker. What each can work out for itself it does; a ticket, and
// where `attach` stands, are read by the first of them and sent to the others.
#pragma once

#include "kernels/hopper/cluster.cuh"
#include "kernels/hopper/dependent_launch.cuh"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/mask_range.hpp"
#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"

namespace sawtooth::kernels::hopper {

template <class Shape>
class SchedulerWarp {
 public:
  __device__ explicit SchedulerWarp(SharedStorage<Shape>& shared) : shared_(shared) {}

  __device__ void run() {
    if (reads_global_memory()) wait_for_launch_before();
    for (shared_.scratch.turn = 0;; ++shared_.scratch.turn) {
      shared_.slot_empty[stage()].wait(parity());
      WorkSlot& slot = shared_.slots[stage()];
      slot.scan.items_before = shared_.scratch.turn;
      if (!sends_mail() || rank() == 0) {
        slot.item.index = next_item(shared_.scratch.turn);
        describe_item(slot);
        if (sends_mail()) post(slot);
      } else {
        receive(slot);
        describe_item(slot);
      }
      shared_.slot_full[stage()].arrive();
      if (slot.last) return;
    }
  }

 private:
  /// Item number `turn` of this worker, or at least the item count when there is none.
  __device__ int64_t next_item(int64_t turn) const {
    const int64_t worker = cluster_number<Shape::cluster>();
    if (schedule().launch == launch_id<DynamicLaunch>) {
      return int64_t(atomicAdd(shared_.arguments.ticket, 1));
    }
    if (schedule().launch == launch_id<StaticLaunch>) return worker + turn * schedule().workers;
    return turn == 0 ? worker : INT64_MAX;
  }

  /// All that is known of item `slot.item.index` before it starts. Every step reads what it needs
  /// from shared memory and leaves its result there, because this warp has few registers.
  __device__ void describe_item(WorkSlot& slot) const {
    const Problem& problem = shared_.arguments.problem;
    SchedulerScratch& scratch = shared_.scratch;
    slot.last = slot.item.index >= item_count(problem, Shape::tiling(), schedule());
    if (slot.last) return;
    scratch.q_tiles = q_tiles(problem, Shape::tiling());
    find_work(slot.item.index);
    slot.item.batch = scratch.work.batch;
    slot.item.head = scratch.work.head;
    slot.item.q_tile = scratch.work.q_tile;
    slot.item.part = scratch.work.part;
    forget_registers();
    slot.item.kv_head = problem.kv_head_of(scratch.work.head);
    forget_registers();
    slot.item.kv_tiles = kv_tiles_of(problem, Shape::tiling(), schedule(), scratch.work);
    forget_registers();
    slot.scan = scan_context(schedule(), slot.item, slot.scan.items_before, 0);
    forget_registers();
    // Each CTA masks by its own rows.
    slot.unmasked = unmasked_kv_tiles(problem, {Shape::cta_q_rows, Shape::kv_rows},
                                      slot.item.q_tile * Shape::cluster + rank());
    forget_registers();
    if (schedule().prefetch > 0) share_prefetch(slot);
  }

  __device__ void find_work(int64_t index) const {
    const Problem& problem = shared_.arguments.problem;
    SchedulerScratch& scratch = shared_.scratch;
    if (schedule().order.list != nullptr) {
      scratch.work = schedule().order.list[index];
      forget_registers();
      return;
    }
    scratch.all_heads = problem.batch * problem.heads * schedule().kv_split;
    forget_registers();
    scratch.place =
        section_place(index, schedule().order.section, scratch.all_heads, scratch.q_tiles);
    forget_registers();
    scratch.work = work_at_place(problem, schedule().order, scratch.q_tiles, schedule().kv_split,
                                 scratch.place);
    forget_registers();
  }

  __device__ void share_prefetch(WorkSlot& slot) const {
    constexpr int64_t lines_a_tile = Shape::kv_tile_bytes / line_bytes;
    SchedulerScratch& scratch = shared_.scratch;
    scratch.share = {};
    if (schedule().order.list == nullptr) {
      scratch.wave = wave_in_section(schedule(), slot.item.index, scratch.q_tiles, scratch.place);
      forget_registers();
      scratch.share = share_in_wave(slot.item.index, scratch.place, scratch.wave);
      forget_registers();
    }
    slot.prefetch_lines = scratch.share.lines_of(lines_a_tile);
    forget_registers();
  }

  /// Tickets, attach words and lists; all else is worked out while the launch before still runs.
  __device__ bool reads_global_memory() const {
    return schedule().launch == launch_id<DynamicLaunch> ||
           schedule().scan == scan_id<AttachScan> || schedule().order.list != nullptr;
  }

  __device__ bool sends_mail() const {
    return Shape::cluster > 1 && (schedule().launch == launch_id<DynamicLaunch> ||
                                  schedule().scan == scan_id<AttachScan>);
  }

  /// The item's index and where attach stands, to the other CTAs of the cluster.
  __device__ void post(WorkSlot& slot) {
    slot.attach_tile = 0;
    if (!slot.last && schedule().scan == scan_id<AttachScan>) {
      slot.attach_tile = atomicAdd(attach_word(shared_.arguments, slot.item), 0);
    }
    const uint32_t at = stage();
    shared_.mail_empty[at].wait(parity());
    for (uint32_t to = 1; to < Shape::cluster; ++to) {
      send(shared_.mail[at].index, slot.item.index, shared_.mail_full[at], to);
      send(shared_.mail[at].attach_tile, slot.attach_tile, shared_.mail_full[at], to);
    }
  }

  __device__ void receive(WorkSlot& slot) {
    const uint32_t at = stage();
    shared_.mail_full[at].arrive_expecting(sizeof(Mail));
    shared_.mail_full[at].wait(parity() ^ 1);  // of one who consumes
    slot.item.index = shared_.mail[at].index;
    slot.attach_tile = shared_.mail[at].attach_tile;
    arrive_at(shared_.mail_empty[at], 0);
  }

  __device__ uint32_t stage() const { return shared_.scratch.turn % work_slots; }
  /// What a producer waits for in this turn: 1 at first.
  __device__ uint32_t parity() const { return shared_.scratch.turn / work_slots % 2 ^ 1; }
  __device__ static uint32_t rank() { return Shape::cluster > 1 ? cluster_rank() : 0; }
  __device__ static void forget_registers() { asm volatile("" ::: "memory"); }
  __device__ const Schedule& schedule() const { return shared_.arguments.schedule; }

  SharedStorage<Shape>& shared_;
};

}  // namespace sawtooth::kernels::hopper
