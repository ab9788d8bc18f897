// The scheduler: one thread that turns the launch rule into items and hands them on through the
// slot. It is one item ahead of the CTA, so the index arithmetic and the ticket cost no time.
#pragma once

#include "kernels/hopper/arguments.hpp"
#include "kernels/hopper/shared_storage.cuh"

namespace sawtooth::kernels::hopper {

/// Item number `items_before` of this CTA, or at least the item count when there is none.
__device__ inline int64_t next_item(const Arguments& arguments, int64_t items_before) {
  const Schedule& schedule = arguments.schedule;
  if (schedule.launch == launch_id<DynamicLaunch>)
    return int64_t(atomicAdd(arguments.ticket, 1ULL));
  if (schedule.launch == launch_id<StaticLaunch>) {
    return blockIdx.x + items_before * schedule.workers;
  }
  return items_before == 0 ? int64_t(blockIdx.x) : INT64_MAX;
}

template <class Shape>
__device__ void run_scheduler(const Arguments& arguments, SharedStorage<Shape>& shared) {
  const int64_t items = item_count(arguments.problem, Shape::tiling(), arguments.schedule);
  uint32_t parity = 1;
  for (int64_t items_before = 0;; ++items_before) {
    const int64_t index = next_item(arguments, items_before);
    const bool last = index >= items;
    const Item item =
        last ? Item{} : item_at(arguments.problem, Shape::tiling(), arguments.schedule, index);
    shared.slot_empty.wait(parity);
    shared.slot = {item, items_before, last};
    shared.slot_full.arrive();
    if (last) return;
    parity ^= 1;
  }
}

}  // namespace sawtooth::kernels::hopper
