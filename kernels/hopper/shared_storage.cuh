// The shared memory of a CTA: one Q tile, rings of K and V tiles, their barriers, the work slot.
#pragma once

#include <cstdint>

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/shape.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels::hopper {

/// One item on its way from the scheduler warp to the loader and the consumers.
struct WorkSlot {
  Item item;
  int64_t items_before;
  bool last;  // no item: everybody leaves
};

/// What the loader tells the consumers about the K tile of a stage.
struct TileNote {
  int32_t kv_tile;
  bool masked;  // some pair of valid rows is not visible, or rows are missing
};

template <class Shape>
struct SharedStorage {
  alignas(swizzle_group_bytes) typename Shape::Element q[Shape::q_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element k[Shape::stages][Shape::kv_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element v[Shape::stages][Shape::kv_tile_elements];
  Barrier q_full, q_empty;
  Barrier k_full[Shape::stages], k_empty[Shape::stages];
  Barrier v_full[Shape::stages], v_empty[Shape::stages];
  Barrier slot_full, slot_empty;
  WorkSlot slot;
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
    slot_full.initialise(1);
    slot_empty.initialise(Shape::consumer_warps + 1);  // and the loader
  }
};

/// Dynamic shared memory starts at a multiple of 16 bytes; the storage needs 1024.
template <class Shape>
inline constexpr int shared_bytes = int(sizeof(SharedStorage<Shape>)) + swizzle_group_bytes;

}  // namespace sawtooth::kernels::hopper
