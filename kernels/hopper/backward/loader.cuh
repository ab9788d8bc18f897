// The loader of the backward kernel: one thread that starts the copies of an item's K and V, and of
// Q, dO and two numbers a row of each step, as soon as their places are free.
#pragma once

#include "kernels/hopper/backward/storage.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/tma/tma.cuh"

namespace sawtooth::kernels::hopper {

/// The tensor maps of a launch, in the constant memory of its parameters.
struct BackwardMaps {
  const CUtensorMap& q;
  const CUtensorMap& k;
  const CUtensorMap& v;
  const CUtensorMap& d_o;
};

template <class Shape>
class BackwardLoader {
 public:
  __device__ BackwardLoader(BackwardStorage<Shape>& shared, const BackwardMaps& maps)
      : shared_(shared), maps_(maps) {}

  __device__ void run() {
    wait_for_launch_before();
    for (RingPosition<work_slots> ring;; ring.advance()) {
      shared_.hand.slot_full[ring.stage].wait(ring.parity);
      const BackwardSlot& work = shared_.hand.slots[ring.stage];
      if (work.last) return;
      if (work.steps > 0) load_item(work);
      shared_.hand.slot_empty[ring.stage].arrive();
    }
  }

 private:
  /// The first step's tiles are asked for before K and V: their places are free earlier.
  __device__ void load_item(const BackwardSlot& work) {
    load_step(work.item);
    load_keys(shared_.v, maps_.v, shared_.v_full, shared_.v_empty, work.item,
              shared_.hand.arguments.policies.v);
    load_keys(shared_.k, maps_.k, shared_.k_full, shared_.k_empty, work.item,
              shared_.hand.arguments.policies.k);
    kv_parity_ ^= 1;
    for (int left = work.steps - 1; left > 0; --left) load_step(work.item);
  }

  __device__ void load_keys(typename Shape::Element* to, const CUtensorMap& map, Barrier& full,
                            Barrier& empty, const Item& item, uint64_t policy) {
    empty.wait(kv_parity_);
    full.arrive_expecting(Shape::kv_tile_bytes);
    load_panels<Shape, Shape::kv_rows>(to, map, full, int(item.own_tile) * Shape::kv_rows,
                                       int(item.kv_head), int(item.batch), policy);
  }

  __device__ void load_step(const Item& item) {
    shared_.hand.step_full[step_.stage].wait(step_.parity);
    const StepNote note = shared_.hand.steps[step_.stage];
    shared_.hand.step_empty[step_.stage].arrive();
    step_.advance();
    const int stage = ring_.stage;
    const int row = StepNote::tile_of(note.word) * Shape::q_rows;
    shared_.d_o_empty[stage].wait(ring_.parity);
    shared_.q_empty[stage].wait(ring_.parity);
    const int place = int(ring_.parity ^ 1) * Shape::stages + stage;
    shared_.notes[place] = note;
    if constexpr (Shape::ordered) shared_.note_full[place].arrive();
    load_rows(shared_.q[stage], shared_.lse_log2[stage], maps_.q, shared_.hand.arguments.lse_log2,
              shared_.q_full[stage], item, note.flat_head, row);
    load_rows(shared_.d_o[stage], shared_.row_sums[stage], maps_.d_o,
              shared_.hand.arguments.row_sums, shared_.d_o_full[stage], item, note.flat_head, row);
    ring_.advance();
  }

  /// A tile and a number for each of its rows.
  __device__ void load_rows(typename Shape::Element* tile, float* numbers, const CUtensorMap& map,
                            const float* all_numbers, Barrier& full, const Item& item,
                            int flat_head, int row) {
    full.arrive_expecting(Shape::q_tile_bytes + Shape::row_number_bytes);
    const int head = flat_head - int(item.batch) * int(shared_.hand.arguments.problem.heads);
    load_panels<Shape, Shape::q_rows>(tile, map, full, row, head, int(item.batch),
                                      shared_.hand.arguments.policies.q);
    load_bytes(numbers,
               all_numbers + int64_t(flat_head) * shared_.hand.arguments.padded_rows() + row,
               Shape::row_number_bytes, full, shared_.hand.arguments.policies.q);
  }

  BackwardStorage<Shape>& shared_;
  const BackwardMaps& maps_;
  uint32_t kv_parity_ = 1;
  RingPosition<step_slots> step_;
  RingPosition<Shape::stages> ring_{0, 1};
};

}  // namespace sawtooth::kernels::hopper
