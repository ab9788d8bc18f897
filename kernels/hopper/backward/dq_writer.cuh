// The writer of dQ: one thread that adds the parts of dQ which the consumers leave in shared memory
// to the sums in global memory, by the copy engine; under dq = ordered in the order of the items.
#pragma once

#include "kernels/hopper/backward/storage.cuh"
#include "kernels/hopper/bulk.cuh"
#include "kernels/hopper/dependent_launch.cuh"

namespace sawtooth::kernels::hopper {

template <class Shape>
class DqWriter {
 public:
  __device__ explicit DqWriter(BackwardStorage<Shape>& shared) : shared_(shared) {}

  __device__ void run() {
    wait_for_launch_before();
    const bool ordered = arguments().schedule.dq == Dq::ordered;
    for (RingPosition<work_slots> ring;; ring.advance()) {
      shared_.hand.slot_full[ring.stage].wait(ring.parity);
      const BackwardSlot& work = shared_.hand.slots[ring.stage];
      if (work.last) break;
      for (int left = work.steps; left > 0; --left) add_step(ordered);
      shared_.hand.slot_empty[ring.stage].arrive();
    }
    wait_until_added();
  }

 private:
  __device__ void add_step(bool ordered) {
    unsigned* turn = nullptr;
    float* to = nullptr;
#pragma unroll 1
    for (int part = 0; part < Shape::consumers; ++part) {
      shared_.dq_full[part].wait(parity_);
      if (part == 0) {
        const StepNote& note = shared_.notes[note_];
        const int tile = StepNote::tile_of(note.word);
        to = arguments().dq_sums +
             (note.flat_head * arguments().padded_rows() + int64_t(tile) * Shape::q_rows) *
                 Shape::head_dim;
        if (ordered) {
          turn = arguments().dq_turns +
                 note.flat_head * q_tiles(arguments().problem, Shape::tiling()) + tile;
          while (load_acquire(turn) != note.turn) {
          }
          fence_before_additions();
        }
      }
      add_bytes(to + part * dq_part_floats, shared_.dq[part], dq_part_floats * sizeof(float));
      commit_additions();
    }
    wait_until_read<0>();
#pragma unroll
    for (int part = 0; part < Shape::consumers; ++part) shared_.dq_empty[part].arrive();
    if (ordered) {
      wait_until_added();
      fence_before_additions();
      store_release(turn, shared_.notes[note_].turn + 1);
    }
    parity_ ^= 1;
    note_ = note_ + 1 == Shape::notes ? 0 : note_ + 1;
  }

  /// Between what other CTAs' copy engines have added and this one's.
  __device__ static void fence_before_additions() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
  }
  __device__ const BackwardArguments& arguments() const {
    return shared_.hand.arguments;
  }

  BackwardStorage<Shape>& shared_;
  uint32_t parity_ = 0;
  int note_ = 0;
};

}  // namespace sawtooth::kernels::hopper
