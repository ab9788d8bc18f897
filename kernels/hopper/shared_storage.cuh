// The shared memory of a CTA: one Q tile, rings of K and V tiles, their barriers, the work slot.
#pragma once

#include <cstdint>

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/shape.hpp"
#include "kernels/mma/arguments.hpp"
#include "scheduler/prefetch.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels::hopper {

/// One item on its way from the scheduler warp to the loader and the consumers.
struct WorkSlot {
  Item item;
  ScanContext scan;
  Range unmasked;        // K/V tiles that need no mask
  Range prefetch_lines;  // of a full K (or V) tile: this worker's part
  bool last;             // no item: everybody leaves
};
inline constexpr int work_slots = 2;

/// What the loader tells the consumers about the K tile of a stage.
struct TileNote {
  int32_t kv_tile;
  bool masked;  // some key is missing or hidden from some row
};

template <class Shape>
struct SharedStorage {
  alignas(swizzle_group_bytes) typename Shape::Element q[Shape::q_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element k[Shape::stages][Shape::kv_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element v[Shape::stages][Shape::kv_tile_elements];
  Barrier q_full, q_empty;
  Barrier k_full[Shape::stages], k_empty[Shape::stages];
  Barrier v_full[Shape::stages], v_empty[Shape::stages];
  Barrier slot_full[work_slots], slot_empty[work_slots];
  WorkSlot slots[work_slots];
  // A copy for the producer, whose few registers it would otherwise fill with loop constants.
  ForwardArguments arguments;
  TileNote notes[Shape::stages];

  __device__ void initialise_barriers() {
    q_full.initialise(1);
    q_empty.initialise(Shape::consumer_warps);
    for (int stage = 0; stage < Shape::stages; ++stage) {
      k_full[stage].initialise(1);
      v_full[stage].initialise(1);
      k_empty[stage].initialise(Shape::consumer_warps);
      v_empty[stage].initialise(Shape::consumer_warps);
    }
    for (int slot = 0; slot < work_slots; ++slot) {
      slot_full[slot].initialise(1);
      slot_empty[slot].initialise(Shape::consumer_warps + 1);  // and the loader
    }
  }
};

/// Dynamic shared memory starts at a multiple of 16 bytes; the storage needs 1024.
template <class Shape>
inline constexpr int shared_bytes = int(sizeof(SharedStorage<Shape>)) + swizzle_group_bytes;

}  // namespace sawtooth::kernels::hopper
