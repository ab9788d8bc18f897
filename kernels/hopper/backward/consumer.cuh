// A consumer warpgroup of the backward pass: 64 keys of each item, dK and dV in registers.
//
// A step, S and dP transposed so that P^T and dS^T are A operands in registers:
//   S^T = K Q^T, dP^T = V dO^T, dV += P^T dO, dK += dS^T Q, dQ = dS K,
// the last from shared memory, where each warpgroup leaves its part of dS. Products are issued so
// that tensor cores have work while exponentials and dS are computed: dP beside the exponentials,
// P^T dO beside dS, and behind dK the scores of the next step beside dQ's way to shared memory.
#pragma once

#include "kernels/hopper/backward/shape.hpp"
#include "kernels/hopper/backward/storage.cuh"
#include "kernels/hopper/epilogue.cuh"
#include "kernels/hopper/instructions.cuh"
#include "kernels/hopper/sight.hpp"
#include "kernels/hopper/slot_reading.cuh"
#include "kernels/hopper/softmax.cuh"
#include "kernels/hopper/wgmma.cuh"

namespace sawtooth::kernels::hopper {

template <class Shape>
class GradientConsumer {
  using Element = typename Shape::Element;
  using Scores = float[accumulators(Shape::part_rows)];
  using Packed = uint32_t[accumulators(Shape::part_rows) / 2];
  using Gradient = float[accumulators(Shape::head_dim)];
  using DqPart = float[accumulators(Shape::dq_columns)];

 public:
  /// `warpgroup` counts consumers from 0.
  __device__ GradientConsumer(const BackwardArguments& arguments, BackwardStorage<Shape>& shared,
                              int warpgroup)
      : arguments_(arguments), shared_(shared), warpgroup_(warpgroup) {}

  __device__ void run() {
    for (;;) {
      const int turn = read(state().turn);
      const int slot = turn % work_slots;
      shared_.hand.slot_full[slot].wait(turn / work_slots % 2);
      if (read(shared_.hand.slots[slot].last)) break;
      process(read(shared_.hand.slots[slot].steps));
      release(shared_.hand.slot_empty[slot]);
      if (reads_for_warp()) state().turn = turn + 1;
    }
  }

 private:
  __device__ void process(int steps) {
    Gradient dk, dv;
#pragma unroll
    for (float& value : dk) value = 0;
#pragma unroll
    for (float& value : dv) value = 0;
    if (steps > 0) {
      const int parity = read(state().kv_parity);
      shared_.k_full.wait(parity);
      shared_.v_full.wait(parity);
      if (reads_for_warp()) state().kv_parity = parity ^ 1;
      for (bool last = false; !last; ++step_) last = add_step(dk, dv);
      release(shared_.v_empty);
      release(shared_.k_empty);
    }
    store(dk, arguments_.dk, arguments_.dk_strides, arguments_.scale);
    store(dv, arguments_.dv, arguments_.dv_strides, 1);
  }

  /// True: it was the item's last.
  __device__ bool add_step(Gradient& dk, Gradient& dv) {
    // Groups of products that may still be in flight when those of a part are needed.
    constexpr int behind = 2 * Shape::parts - 1;
    const int stage = uniform(int(step_ % Shape::stages));
    const int buffer = uniform(int(step_ % 2));
    const uint32_t parity = step_ / Shape::stages % 2;
    Scores scores[Shape::parts];
    Scores gradients[Shape::parts];
    Packed packed[Shape::parts];
    Packed packed_gradients[Shape::parts];
    shared_.q_full[stage].wait(parity);
    const int note = read(shared_.notes[step_ % Shape::notes].word);
    pin_all(scores);
    wgmma_fence();
    issue_by_rows(scores[0], shared_.k, shared_.q[stage], 0);
    shared_.d_o_full[stage].wait(parity);
    pin_all(gradients);
    wgmma_fence();
    issue_by_rows(gradients[0], shared_.v, shared_.d_o[stage], 0);
    if constexpr (Shape::parts == 2) {
      issue_by_rows(scores[1], shared_.k, shared_.q[stage], 1);
      issue_by_rows(gradients[1], shared_.v, shared_.d_o[stage], 1);
    }
#pragma unroll
    for (int part = 0; part < Shape::parts; ++part) {
      Numbers numbers;
      read_numbers(numbers, shared_.lse_log2[stage], part);
      wgmma_wait<behind>();
      pin(scores[part]);
      if (note & StepNote::masked)
        mask(scores[part], StepNote::tile_of(note) * Shape::q_rows + part * Shape::part_rows);
      to_probabilities(scores[part], numbers);
      pack_probabilities<Element>(packed[part], scores[part]);
      wgmma_wait<behind - 1>();
      pin(gradients[part]);
      to_score_gradients(gradients[part], scores[part], shared_.row_sums[stage], part);
      pack_probabilities<Element>(packed_gradients[part], gradients[part]);
      pin(packed[part]);
      pin(dv);
      wgmma_fence();
      issue_product(dv, packed[part], shared_.d_o[stage], part);
      store_scores(packed_gradients[part], buffer, part);
      if (part + 1 < Shape::parts) {
        pin(packed_gradients[part]);
        pin(dk);
        wgmma_fence();
        issue_product(dk, packed_gradients[part], shared_.q[stage], part);
      }
    }
    fence_before_copies();
    named_barrier_sync(scores_barrier, Shape::consumers * warpgroup_threads);

    constexpr int last_part = Shape::parts - 1;
    DqPart dq;
    pin(dq);
    pin(packed_gradients[last_part]);
    pin(dk);
    wgmma_fence();
    issue_dq(dq, buffer);
    issue_product(dk, packed_gradients[last_part], shared_.q[stage], last_part);
    wgmma_wait<1>();
    pin(dq);
    pin(dv);
    pin_all(packed);
    // Every lane for itself: each has read numbers of rows.
    shared_.d_o_empty[stage].arrive();
    hand_over(dq);
    wgmma_wait<0>();
    pin(dk);
    pin_all(packed_gradients);
    release(shared_.q_empty[stage]);
    return note & StepNote::last;
  }

  template <class Registers>
  __device__ static void pin_all(Registers& registers) {
#pragma unroll
    for (auto& part : registers) pin(part);
  }

  /// This warpgroup's keys of K, or V, times a part of the rows of Q, or dO.
  __device__ void issue_by_rows(Scores& to, const Element* keys, const Element* rows, int part) {
    const uint64_t a =
        rows_descriptor(shared_address(keys) + warpgroup_ * warpgroup_rows * swizzle_row_bytes);
    const uint64_t b =
        rows_descriptor(shared_address(rows) + part * Shape::part_rows * swizzle_row_bytes);
#pragma unroll
    for (int slice = 0; slice < Shape::head_dim / wgmma_k; ++slice) {
      Wgmma<Element, Shape::part_rows, BOrder::rows>::from_shared(
          to, advance_low(a, rows_slice_offset(slice, Shape::kv_rows)),
          advance_low(b, rows_slice_offset(slice, Shape::q_rows)), slice != 0);
    }
    wgmma_commit();
  }

  /// dV += P^T dO, or dK += dS^T Q, of a part of their rows.
  __device__ void issue_product(Gradient& to, const Packed& a, const Element* rows, int part) {
    const uint64_t b = columns_descriptor(shared_address(rows), Shape::q_rows);
    constexpr int slices = Shape::part_rows / wgmma_k;
#pragma unroll
    for (int slice = 0; slice < slices; ++slice) {
      Wgmma<Element, Shape::head_dim, BOrder::columns>::from_registers(
          to, a + 4 * slice, advance_low(b, columns_slice_offset(part * slices + slice)), true);
    }
    wgmma_commit();
  }

  /// This warpgroup's part of dQ = dS K, over the keys of all warpgroups.
  __device__ void issue_dq(DqPart& dq, int buffer) {
    const int first_row = Shape::splits_dq_rows ? warpgroup_ * warpgroup_rows : 0;
    const int panel = Shape::splits_dq_rows ? 0 : warpgroup_;
    const uint64_t a =
        rows_descriptor(shared_address(shared_.scores[buffer]) + first_row * swizzle_row_bytes);
    const uint64_t b = columns_descriptor(
        shared_address(shared_.k) + panel * Shape::kv_rows * swizzle_row_bytes, Shape::kv_rows);
#pragma unroll
    for (int slice = 0; slice < Shape::kv_rows / wgmma_k; ++slice) {
      Wgmma<Element, Shape::dq_columns, BOrder::columns>::from_shared(
          dq, advance_low(a, rows_slice_offset(slice, Shape::q_rows)),
          advance_low(b, columns_slice_offset(slice)), slice != 0);
    }
    wgmma_commit();
  }

  /// Hides queries that do not see a key, in S^T: rows are keys.
  __device__ void mask(Scores& scores, int first_row) const {
    int first_query[rows_a_thread];
    int end_query[rows_a_thread];
    const int first = first_key();
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const RowSpan queries = rows_seeing(arguments_.problem, first + half * row_half_distance,
                                          first_row + column_offset(thread_number()));
      first_query[half] = queries.begin;
      end_query[half] = queries.end;
    }
    mask_scores(scores, first_query, end_query);
  }

  /// Two numbers of every 8 rows of a part: those of this thread's columns of S^T.
  using Numbers = float2[Shape::part_rows / 8];
  __device__ static uint32_t numbers_of_thread(const float* of_rows, int part) {
    return shared_address(of_rows) + part * Shape::part_rows * sizeof(float) +
           thread_number() % 4 * sizeof(float2);
  }
  __device__ static void read_numbers(Numbers& numbers, const float* of_rows, int part) {
    const uint32_t from = numbers_of_thread(of_rows, part);
#pragma unroll
    for (int block = 0; block < Shape::part_rows / 8; ++block)
      numbers[block] = read_shared_floats(from + block * 8 * sizeof(float));
  }

  __device__ void to_probabilities(Scores& scores, const Numbers& lse_log2) const {
#pragma unroll
    for (int i = 0; i < accumulators(Shape::part_rows); ++i) {
      const float2 lse = lse_log2[i / 4];
      scores[i] =
          exp2_approximate(fmaf(scores[i], arguments_.scale_log2, i % 2 == 0 ? -lse.x : -lse.y));
    }
  }

  /// dS^T = P^T (dP^T - rowsum(dO * O)) in place of dP^T. Reads the sums where they are used: here
  /// registers are scarcest.
  __device__ static void to_score_gradients(Scores& gradients, const Scores& probabilities,
                                            const float* row_sums, int part) {
    const uint32_t from = numbers_of_thread(row_sums, part);
#pragma unroll
    for (int block = 0; block < Shape::part_rows / 8; ++block) {
      const float2 sum = read_shared_floats(from + block * 8 * sizeof(float));
#pragma unroll
      for (int i = 4 * block; i < 4 * block + 4; ++i)
        gradients[i] = probabilities[i] * (gradients[i] - (i % 2 == 0 ? sum.x : sum.y));
    }
  }

  __device__ void store_scores(const Packed& packed, int buffer, int part) const {
    const uint32_t to = shared_address(shared_.scores[buffer]) +
                        (warpgroup_ * Shape::q_rows + part * Shape::part_rows) * swizzle_row_bytes +
                        matrix_store_offset(thread_number() % warpgroup_threads);
#pragma unroll
    for (int block = 0; block < Shape::part_rows / 16; ++block)
      store_matrices_transposed(to + block * matrix_store_step, packed + 4 * block);
  }

  /// Leaves this warpgroup's part of dQ to the writer.
  __device__ void hand_over(const DqPart& dq) {
    shared_.dq_empty[warpgroup_].wait(step_ % 2 ^ 1);
    const uint32_t to = shared_address(shared_.dq[warpgroup_]) +
                        thread_number() % warpgroup_threads * sizeof(float4);
#pragma unroll
    for (int chunk = 0; chunk < accumulators(Shape::dq_columns) / 4; ++chunk) {
      write_shared_floats(to + dq_chunk_offset(chunk, 0) * sizeof(float), dq[4 * chunk],
                          dq[4 * chunk + 1], dq[4 * chunk + 2], dq[4 * chunk + 3]);
    }
    fence_before_copies();
    release(shared_.dq_full[warpgroup_]);
  }

  __device__ void store(const Gradient& gradient, void* tensor, const Strides& strides,
                        float factor) const {
    const Item& item = work().item;
    const int batch = read(item.batch);
    const int64_t head = arguments_.stored_head(read(item.kv_head), read(item.part));
    const int first = first_key();
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const int key = first + half * row_half_distance;
      store_row<true>(static_cast<Element*>(tensor) + strides.offset(batch, head, key), gradient,
                      half, factor, key < arguments_.problem.seq_kv);
    }
  }

  /// The key of this thread's first row half.
  __device__ int first_key() const {
    return read(work().item.own_tile) * Shape::kv_rows + warpgroup_ * warpgroup_rows +
           hopper::first_row(thread_number() % warpgroup_threads);
  }
  __device__ const BackwardSlot& work() const {
    return shared_.hand.slots[read(state().turn) % work_slots];
  }
  __device__ ConsumerState& state() const {
    return shared_
        .consumers[warpgroup_ * Shape::warpgroup_warps + thread_number() % warpgroup_threads / 32];
  }

  // A warp arrives once, when all its lanes are done.
  __device__ static void release(Barrier& barrier) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier.arrive();
  }

  static constexpr int scores_barrier = 1;  // dS is whole

  const BackwardArguments& arguments_;
  BackwardStorage<Shape>& shared_;
  int warpgroup_;
  uint32_t step_ = 0;  // of all items so far
};

}  // namespace sawtooth::kernels::hopper
