// The writer of dQ: one thread that adds the parts of dQ which the consumers leave in shared memory
// to the sums in global memory, by the copy engine; ordered kernels in the order of the items.
#pragma once

#include "kernels/hopper/backward/storage.cuh"
#include "kernels/hopper/instructions.cuh"

namespace sawtooth::kernels::hopper {

template <class Shape>
class DqWriter {
 public:
  __device__ explicit DqWriter(BackwardStorage<Shape>& shared) : shared_(shared) {}

  __device__ void run() {
    wait_for_launch_before();
    for (RingPosition<work_slots> ring;; ring.advance()) {
      shared_.hand.slot_full[ring.stage].wait(ring.parity);
      const BackwardSlot& work = shared_.hand.slots[ring.stage];
      if (work.last) break;
      for (int left = work.steps; left > 0; --left) {
        // The notes of later steps have been waited for at the end of the turn before.
        if (Shape::ordered && left == work.steps) wait_for_note();
        add_step(left > 1);
      }
      shared_.hand.slot_empty[ring.stage].arrive();
    }
    wait_until_written();
  }

 private:
  /// `more`: another step of the item follows.
  __device__ void add_step(bool more) {
    unsigned* turn = nullptr;
    unsigned own = 0;
    float* to = nullptr;
#pragma unroll 1
    for (int part = 0; part < Shape::consumers; ++part) {
      shared_.dq_full[part].wait(parity_);
      if (part == 0) {
        const StepNote& note = shared_.notes[note_.stage];
        to = arguments().dq_sums + (note.flat_head * arguments().padded_rows() +
                                    int64_t(StepNote::tile_of(note.word)) * Shape::q_rows) *
                                       Shape::head_dim;
        if constexpr (Shape::ordered) {
          turn = turn_of(note);
          own = note.turn;
          await(turn, own);
          fence_before_additions();
        }
      }
      add_bytes(to + part * dq_part_floats, shared_.dq[part],
                Shape::dq_floats(part) * sizeof(float));
      commit_copies();
    }
    wait_until_read();
#pragma unroll
    for (int part = 0; part < Shape::consumers; ++part) shared_.dq_empty[part].arrive();
    parity_ ^= 1;
    note_.advance();
    if constexpr (Shape::ordered) end_turn(turn, own, more);
  }

  __device__ void wait_for_note() {
    shared_.note_full[note_.stage].wait(note_.parity);
  }

  __device__ void await(const unsigned* turn, unsigned own) {
    if (seen_ == own) return;
    while (load_acquire(turn) != own) {
    }
  }

  /// Asks for the next step's turn before it waits for this one's additions: where that turn has
  /// come by then, the next step need not wait for a way to L2. The fence that releases this turn
  /// is the one that what was seen needs too.
  __device__ void end_turn(unsigned* turn, unsigned own, bool more) {
    seen_ = no_turn;
    if (more) {
      wait_for_note();
      seen_ = load_relaxed(turn_of(shared_.notes[note_.stage]));
    }
    wait_until_written();
    fence_before_additions();
    fence_acquire_release();
    store_relaxed(turn, own + 1);
  }

  __device__ unsigned* turn_of(const StepNote& note) const {
    return arguments().dq_turns + note.flat_head * q_tiles(arguments().problem, Shape::tiling()) +
           StepNote::tile_of(note.word);
  }
  /// Between what other CTAs' copy engines have added and this one's.
  __device__ static void fence_before_additions() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
  }
  __device__ static void fence_acquire_release() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
  /// A turn's word without any order but that of fences.
  __device__ static unsigned load_relaxed(const unsigned* at) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
  }
  __device__ static void store_relaxed(unsigned* at, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  }
  __device__ const BackwardArguments& arguments() const {
    return shared_.hand.arguments;
  }

  static constexpr unsigned no_turn = ~0u;

  BackwardStorage<Shape>& shared_;
  uint32_t parity_ = 0;
  RingPosition<Shape::notes> note_;
  unsigned seen_ = no_turn;  // of the next step's turn, when this one's ended
};

}  // namespace sawtooth::kernels::hopper
