// The scheduler: one thread that turns the launch rule into items and hands them on through two
// slots. It works one item ahead of the loader, so index arithmetic and tickets cost no time.
#pragma once

#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/mask_range.hpp"
#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"

namespace sawtooth::kernels::hopper {

/// Item number `turn` of this CTA, or at least the item count when there is none.
__device__ inline int64_t next_item(const ForwardArguments& arguments, int64_t turn) {
  const Schedule& schedule = arguments.schedule;
  if (schedule.launch == launch_id<DynamicLaunch>) return int64_t(atomicAdd(arguments.ticket, 1));
  if (schedule.launch == launch_id<StaticLaunch>) return blockIdx.x + turn * schedule.workers;
  return turn == 0 ? int64_t(blockIdx.x) : INT64_MAX;
}

/// All that is known of item `index` before it starts; the loader adds where `attach` stands.
template <class Shape>
__device__ void describe_item(const ForwardArguments& arguments, int64_t index, int64_t turn,
                              WorkSlot& slot) {
  constexpr int64_t lines_a_tile = Shape::kv_tile_bytes / line_bytes;
  const Schedule& schedule = arguments.schedule;
  slot.item = item_at(arguments.problem, Shape::tiling(), schedule, index);
  slot.scan = scan_context(schedule, slot.item, turn, 0);
  slot.unmasked = unmasked_kv_tiles(arguments.problem, Shape::tiling(), slot.item.q_tile);
  if (schedule.prefetch > 0) {
    slot.prefetch_lines =
        prefetch_share(arguments.problem, Shape::tiling(), schedule, index).lines_of(lines_a_tile);
  }
}

template <class Shape>
__device__ void run_scheduler(SharedStorage<Shape>& shared) {
  const ForwardArguments& arguments = shared.arguments;
  RingPosition<work_slots> ring{0, 1};
  for (int64_t turn = 0;; ++turn) {
    shared.slot_empty[ring.stage].wait(ring.parity);
    WorkSlot& slot = shared.slots[ring.stage];
    const int64_t index = next_item(arguments, turn);
    slot.last = index >= item_count(arguments.problem, Shape::tiling(), arguments.schedule);
    if (!slot.last) describe_item<Shape>(arguments, index, turn, slot);
    const bool last = slot.last;
    shared.slot_full[ring.stage].arrive();
    if (last) return;
    ring.advance();
  }
}

}  // namespace sawtooth::kernels::hopper
