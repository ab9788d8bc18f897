// The shared memory of a CTA of the backward kernel: K and V of an item, rings of Q and dO tiles
// with two numbers a row, dS, and parts of dQ on their way to the sums in global memory.
#pragma once

#include <cstdint>

#include "kernels/hopper/backward/shape.hpp"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/mma/backward/arguments.hpp"

namespace sawtooth::kernels::hopper {

/// An item of the backward pass: its tiles are scanned for every head of the group.
struct BackwardSlot : WorkSlot {
  int32_t heads;
  int32_t steps;  // over all of them
};

/// What the scan tells the loader about the next step, and the loader all others.
struct StepNote {
  int32_t word;       // the Q tile and two bits
  int32_t flat_head;  // batch * heads + query head
  unsigned turn;      // dq = ordered: additions to the Q tile that come before

  static constexpr int masked = 1;  // some key is missing or hidden from some row
  static constexpr int last = 2;    // of the item
  __device__ static int word_of(int tile, int bits) { return tile * 4 + bits; }
  __device__ static int tile_of(int word) { return word >> 2; }
};

/// Where a consumer warp stands; kept here, for its registers are full.
struct ConsumerState {
  int32_t turn;       // items so far
  int32_t kv_parity;  // of the next K and V
};

template <class Shape>
struct BackwardStorage {
  using Element = typename Shape::Element;
  alignas(swizzle_group_bytes) Element k[Shape::kv_tile_elements];
  alignas(swizzle_group_bytes) Element v[Shape::kv_tile_elements];
  alignas(swizzle_group_bytes) Element q[Shape::stages][Shape::q_tile_elements];
  alignas(swizzle_group_bytes) Element d_o[Shape::stages][Shape::q_tile_elements];
  // dS of the whole K/V tile, a row a query, panels of 64 keys. In two steps' turns: while a
  // warpgroup still multiplies one, the other may write the next.
  alignas(swizzle_group_bytes) Element scores[2][Shape::score_elements];
  alignas(swizzle_group_bytes) float dq[Shape::consumers][dq_part_floats];
  alignas(128) float lse_log2[Shape::stages][Shape::q_rows];
  alignas(128) float row_sums[Shape::stages][Shape::q_rows];
  Barrier k_full, k_empty, v_full, v_empty;
  Barrier q_full[Shape::stages];    // with log-sum-exp
  Barrier d_o_full[Shape::stages];  // with row sums
  Barrier q_empty[Shape::stages];
  Barrier d_o_empty[Shape::stages];  // with both numbers a row
  Barrier dq_full[Shape::consumers], dq_empty[Shape::consumers];
  HandOver<BackwardArguments, StepNote, BackwardSlot> hand;
  // A note outlives its stage: the writer reads it when the step's dQ has come. Its place is filled
  // again four steps on, when consumers have left dQ of a step before which the writer left this.
  StepNote notes[Shape::notes];
  Barrier note_full[Shape::notes];  // of ordered kernels alone
  ConsumerState consumers[Shape::consumer_warps];

  __device__ void initialise_barriers() {
    for (Barrier* barrier : {&k_full, &v_full}) barrier->initialise(1);
    for (Barrier* barrier : {&k_empty, &v_empty}) barrier->initialise(Shape::consumer_warps);
    for (int stage = 0; stage < Shape::stages; ++stage) {
      q_full[stage].initialise(1);
      d_o_full[stage].initialise(1);
      q_empty[stage].initialise(Shape::consumer_warps);
      d_o_empty[stage].initialise(Shape::consumers * warpgroup_threads);
    }
    for (int part = 0; part < Shape::consumers; ++part) {
      dq_full[part].initialise(Shape::warpgroup_warps);
      dq_empty[part].initialise(1);
    }
    if constexpr (Shape::ordered)
      for (Barrier& barrier : note_full) barrier.initialise(1);
    for (ConsumerState& state : consumers) state = {};
    // The scan, the loader and the writer of dQ beside the consumers.
    hand.initialise_barriers(Shape::consumer_warps + 3);
  }
};

template <class Shape>
inline constexpr int backward_shared_bytes =
    int(sizeof(BackwardStorage<Shape>)) + swizzle_group_bytes;

}  // namespace sawtooth::kernels::hopper
