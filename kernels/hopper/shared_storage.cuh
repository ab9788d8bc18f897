// The shared memory of a CTA: rings of Q, K and V tiles, their barriers, the work slots.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/shape.hpp"
#include "kernels/mma/arguments.hpp"
#include "scheduler/prefetch.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels::hopper {

/// One item on its way from the scheduler to the scan, the loader and the consumers.
struct WorkSlot {
  Item item;
  ScanContext scan;
  int64_t attach_tile;   // the attach word when it was read
  Range unmasked;        // K/V tiles that need no mask
  Range prefetch_lines;  // of a full K (or V) tile: this worker's part
  bool last;             // no item: everybody leaves
};
inline constexpr int work_slots = 3;

/// Where the scheduler, which has few registers, leaves the steps of its arithmetic.
struct SchedulerScratch {
  uint32_t turn;
  int64_t items;
  int64_t q_tiles;
  int64_t all_heads;
  SectionPlace place;
  WorkCoordinates work;
  Range wave;
  PrefetchShare share;
  // Of the last wave, where it is cut.
  LastWave last_wave{0, 1, 1};
  bool is_piece;
  PiecePlace piece;
  int64_t begin, end;   // of its share, in the row of all tiles
  Range tiles;          // of the item, that the piece has
  int64_t item_number;  // in the order: the item's index, but for pieces
};

/// What the scan tells the loader about the next step, and the loader the consumers about a stage.
struct TileNote {
  int32_t kv_tile;
  bool masked;  // some key is missing or hidden from some row
};
inline constexpr int step_slots = 2;
/// The same in one word.
struct PackedNote {
  int32_t word;
  __device__ PackedNote& operator=(const TileNote& note) {
    word = note.kv_tile * 2 + int32_t(note.masked);
    return *this;
  }
};

/// From the first CTA of a cluster to the others: a ticket, and where attach stands.
struct Mail {
  int64_t index;
  int64_t attach_tile;
};

/// The word of the item's K/V head that attach reads and leaves.
__device__ inline int* attach_word(const ForwardArguments& arguments, const Item& item) {
  return arguments.attach_tiles + item.batch * arguments.problem.kv_heads + item.kv_head;
}

template <class Shape>
struct SharedStorage {
  alignas(swizzle_group_bytes) typename Shape::Element q[Shape::q_stages][Shape::q_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element k[Shape::stages][Shape::kv_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element v[Shape::stages][Shape::kv_tile_elements];
  Barrier q_full[Shape::q_stages], q_empty[Shape::q_stages];
  Barrier k_full[Shape::stages], k_empty[Shape::stages];
  Barrier v_full[Shape::stages], v_empty[Shape::stages];
  Barrier slot_full[work_slots], slot_empty[work_slots];
  Barrier step_full[step_slots], step_empty[step_slots];
  Barrier mail_full[work_slots], mail_empty[work_slots];
  WorkSlot slots[work_slots];
  SchedulerScratch scratch;
  RingPosition<work_slots> scan_ring;  // where the scan stands
  uint32_t scan_steps;                 // steps that it has named
  TileNote steps[step_slots];
  Mail mail[work_slots];
  // A copy for the producer, whose few registers it would otherwise fill with loop constants.
  ForwardArguments arguments;
  std::conditional_t<Shape::short_items, PackedNote, TileNote> notes[Shape::stages];

  __device__ void initialise_barriers() {
    for (int stage = 0; stage < Shape::q_stages; ++stage) {
      q_full[stage].initialise(1);
      q_empty[stage].initialise(Shape::consumer_warps);
    }
    for (int stage = 0; stage < Shape::stages; ++stage) {
      k_full[stage].initialise(1);
      v_full[stage].initialise(1);
      k_empty[stage].initialise(Shape::cluster * Shape::consumer_warps);
      v_empty[stage].initialise(Shape::cluster * Shape::consumer_warps);
    }
    for (int slot = 0; slot < work_slots; ++slot) {
      slot_full[slot].initialise(1);
      slot_empty[slot].initialise(Shape::consumer_warps + 2);  // the scan and the loader
      mail_full[slot].initialise(1);
      mail_empty[slot].initialise(Shape::cluster - 1 > 0 ? Shape::cluster - 1 : 1);
    }
    for (int slot = 0; slot < step_slots; ++slot) {
      step_full[slot].initialise(1);
      step_empty[slot].initialise(1);
    }
  }
};

/// Dynamic shared memory starts at a multiple of 16 bytes; the storage needs 1024.
template <class Shape>
inline constexpr int shared_bytes = int(sizeof(SharedStorage<Shape>)) + swizzle_group_bytes;

}  // namespace sawtooth::kernels::hopper
