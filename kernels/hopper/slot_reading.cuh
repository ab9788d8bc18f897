// How a consumer warp learns what producers have left in shared memory: one lane reads and tells
// the others, and the same lane later arrives for the warp. When all lanes read and one arrived,
// racecheck saw the other reads race with the next write.
#pragma once

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/shared_storage.cuh"

namespace sawtooth::kernels::hopper {

/// The same value, known to the compiler to be the same in all lanes.
__device__ inline int uniform(int value) {
  return __shfl_sync(0xffffffff, value, 0);
}

__device__ inline bool reads_for_warp() {
  return threadIdx.x % 32 == 0;
}

/// Every warp arrives for itself, once all its lanes are done.
__device__ inline void release_by_warp(Barrier& barrier) {
  __syncwarp();
  if (reads_for_warp()) barrier.arrive();
}

template <class Number>
__device__ int read(const Number& place) {
  return uniform(reads_for_warp() ? int(place) : 0);
}

__device__ inline TileNote read(const PackedNote& note) {
  return PackedNote{uniform(reads_for_warp() ? read_shared(&note.word) : 0)}.unpacked();
}

/// What a consumer must know before an item's first product.
struct ItemStart {
  int q_tile;
  int steps;
};

/// False: there is no item any more. `Together`: all words at once, so that no reading waits for
/// another.
template <bool Together>
__device__ bool read_start(const WorkSlot& slot, ItemStart& start) {
  if constexpr (Together) {
    int last = 0, q_tile = 0, steps = 0;
    if (reads_for_warp()) {
      last = slot.last;
      q_tile = int(slot.item.own_tile);
      steps = int(slot.scan.tiles);
    }
    if (uniform(last)) return false;
    start.q_tile = uniform(q_tile);
    start.steps = uniform(steps);
  } else {
    if (read(slot.last)) return false;
    start.q_tile = read(slot.item.own_tile);
    start.steps = read(slot.scan.tiles);
  }
  return true;
}

/// What it must know after the last product: how many CTAs have a piece of the item, and whose rows
/// they are.
struct ItemEnd {
  int pieces;
  int batch;
  int head;
};

/// `Together`: all of `end`; else the owner is left to read_owner.
template <bool Together>
__device__ void read_pieces(const WorkSlot& slot, ItemEnd& end) {
  if constexpr (Together) {
    int pieces = 0, batch = 0, head = 0;
    if (reads_for_warp()) {
      pieces = int(slot.item.pieces.count);
      batch = int(slot.item.batch);
      head = int(slot.item.head);
    }
    end.pieces = uniform(pieces);
    end.batch = uniform(batch);
    end.head = uniform(head);
  } else {
    end.pieces = read(slot.item.pieces.count);
  }
}

/// Batch and head, where read_pieces has not read them.
template <bool Together>
__device__ void read_owner(const WorkSlot& slot, ItemEnd& end) {
  if constexpr (!Together) {
    end.batch = read(slot.item.batch);
    end.head = read(slot.item.head);
  }
}

}  // namespace sawtooth::kernels::hopper
