// The shared memory of a CTA: rings of Q, K and V tiles, their barriers, the work slots.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/shape.hpp"
#include "kernels/mma/arguments.hpp"
#include "kernels/tma/tma.cuh"
#include "scheduler/prefetch.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels::hopper {

/// One item on its way from the scheduler to the scan, the loader and the consumers.
struct WorkSlot {
  Item item;
  ScanContext scan;
  int64_t attach_tile;   // the attach word when it was read
  Range unmasked;        // tiles of the scan that need no mask
  Range prefetch_lines;  // of a full K (or V) tile: this worker's part
  bool last;             // no item: everybody leaves
};
inline constexpr int work_slots = 3;

/// The same of packed sequences: its sequence as a problem, and that one's first row of Q.
struct PackedSlot : WorkSlot {
  Problem problem;
  int64_t first_q;
};

/// Where the scheduler, which has few registers, leaves the steps of its arithmetic.
struct SchedulerScratch {
  uint32_t turn;
  uint32_t steps;  // of all items so far
  int64_t items;
  int64_t ranks;  // items of a head
  int64_t all_heads;
  SectionPlace place;
  WorkCoordinates work;
  Range wave;
  PrefetchShare share;
  // These are for the last wave, where it is cut.
  LastWave last_wave{0, 1, 1};
  bool is_piece;
  bool draws_late;  // tickets, when the items before end
  PiecePlace piece;
  int64_t begin, end;   // of its share, in the row of all tiles
  Range tiles;          // of the item, that the piece has
  int64_t item_number;  // in the order: the item's index, but for pieces
};

/// What the scan tells the loader about the next step.
struct TileStep {
  int32_t kv_tile;
  bool masked;  // some key is missing or hidden from some row
};
/// What the loader tells the consumers about a stage.
struct TileNote {
  int32_t kv_tile;
  bool masked;
  bool next_is_plain;  // the item has another step behind, whose tile is not masked
};
/// The same in one word.
struct PackedNote {
  int32_t word;
  __device__ PackedNote& operator=(const TileNote& note) {
    word = note.kv_tile * 4 + int32_t(note.next_is_plain) * 2 + int32_t(note.masked);
    return *this;
  }
  __device__ TileNote unpacked() const { return {word >> 2, (word & 1) != 0, (word & 2) != 0}; }
};
inline constexpr int step_slots = 2;
/// Under a mask, where items differ in length, no ticket is drawn while more tiles than this are to
/// be named. The scan is some four steps ahead of the consumers, so eight steps of 1.2 us or more
/// hide the ticket and what follows from it.
inline constexpr int ticket_lead_tiles = 4;
/// The word of the item's K/V head that attach reads and leaves.
template <class Arguments>
__device__ inline int* attach_word(const Arguments& arguments, const Item& item) {
  return arguments.attach_tiles + item.batch * arguments.problem.kv_heads + item.kv_head;
}

/// How items go from the scheduler to all, and their tiles from the scan to the loader; of either
/// pass. `Note` is what the scan says of a step.
template <class Arguments_, class Note_, class Slot = WorkSlot>
struct HandOver {
  using Arguments = Arguments_;
  using Note = Note_;
  static constexpr bool packed = std::is_same_v<Slot, PackedSlot>;
  static constexpr bool listed = std::is_same_v<Arguments, ListedArguments>;
  Barrier slot_full[work_slots], slot_empty[work_slots];
  Barrier step_full[step_slots], step_empty[step_slots];
  Slot slots[work_slots];
  SchedulerScratch scratch;
  RingPosition<work_slots> scan_ring;  // where the scan stands
  uint32_t scan_steps;                 // that it has named; atomic: the scheduler reads it
  Note steps[step_slots];
  // A copy for the producer, whose few registers it would otherwise fill with loop constants.
  Arguments arguments;

  /// `readers` of a slot arrive when they have left it.
  __device__ void initialise_barriers(int readers) {
    for (int slot = 0; slot < work_slots; ++slot) {
      slot_full[slot].initialise(1);
      slot_empty[slot].initialise(readers);
    }
    for (int slot = 0; slot < step_slots; ++slot) {
      step_full[slot].initialise(1);
      step_empty[slot].initialise(1);
    }
  }
};

template <class Shape>
struct SharedStorage {
  // A Q tile is q_boxes boxes, one behind the other.
  alignas(swizzle_group_bytes) typename Shape::Element q[Shape::q_stages][Shape::q_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element k[Shape::stages][Shape::kv_tile_elements];
  alignas(swizzle_group_bytes) typename Shape::Element v[Shape::stages][Shape::v_tile_elements];
  // By stage, box by box.
  Barrier q_full[Shape::q_stages * Shape::q_boxes], q_empty[Shape::q_stages * Shape::q_boxes];
  Barrier k_full[Shape::stages], k_empty[Shape::stages];
  Barrier v_full[Shape::stages], v_empty[Shape::stages];
  using OneLength = std::conditional_t<Shape::listed, ListedArguments, ForwardArguments>;
  using Hand = std::conditional_t<Shape::packed, HandOver<PackedArguments, TileStep, PackedSlot>,
                                  HandOver<OneLength, TileStep>>;
  Hand hand;
  PackedNote notes[Shape::stages];

  __device__ void initialise_barriers() {
    for (int box = 0; box < Shape::q_stages * Shape::q_boxes; ++box) {
      q_full[box].initialise(1);
      q_empty[box].initialise(Shape::consumer_warps / Shape::q_boxes);
    }
    for (int stage = 0; stage < Shape::stages; ++stage) {
      k_full[stage].initialise(1);
      v_full[stage].initialise(1);
      k_empty[stage].initialise(Shape::consumer_warps);
      v_empty[stage].initialise(Shape::consumer_warps);
    }
    hand.initialise_barriers(Shape::consumer_warps + 2);  // the scan and the loader
  }
};

/// Starts the copy of `Rows` rows of one head: all panels at once, or where the last one is not
/// full one after the other.
template <class Shape, int Rows>
__device__ inline void load_panels(typename Shape::Element* to, const CUtensorMap& map,
                                   Barrier& full, int row, int head, int batch, uint64_t policy) {
  constexpr int copies = Shape::padded ? Shape::panels : 1;
#pragma unroll
  for (int panel = 0; panel < copies; ++panel)
    load_tile(to + panel * Rows * panel_columns, map, full, row, head, batch, policy,
              panel * panel_columns);
}

/// Dynamic shared memory starts at a multiple of 16 bytes; the storage needs 1024.
template <class Shape>
inline constexpr int shared_bytes = int(sizeof(SharedStorage<Shape>)) + swizzle_group_bytes;

}  // namespace sawtooth::kernels::hopper
