// The item that a consumer warpgroup is at: its rows, and how their O and log-sum-exp are left once
// its pieces are merged. OwnResults go from registers to memory, with kv-split those of a part;
// RunningResults are made one with those of the calls before; of CopiedResults the copy engine
// writes O.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/hopper/epilogue.cuh"
#include "kernels/hopper/layout.hpp"
#include "kernels/hopper/pieces.cuh"
#include "kernels/hopper/shared_storage.cuh"
#include "kernels/hopper/slot_reading.cuh"
#include "kernels/hopper/softmax.cuh"
#include "kernels/mma/arguments.hpp"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/running_results.cuh"

namespace sawtooth::kernels::hopper {

/// `Results` is OwnResults, RunningResults or CopiedResults.
template <class Shape, class Results>
class ConsumerItem {
 protected:
  using Arguments = typename SharedStorage<Shape>::Hand::Arguments;
  using Element = typename Shape::Element;
  using Output = float[accumulators(Shape::head_dim_v)];

  /// `warpgroup` counts consumers from 0.
  __device__ ConsumerItem(const Arguments& arguments, const Results& results,
                          SharedStorage<Shape>& shared, int warpgroup)
      : arguments_(arguments), results_(results), shared_(shared), warpgroup_(warpgroup) {}

  __device__ const auto& work() const { return shared_.hand.slots[turn_ % work_slots]; }

  /// The problem is that of the item's sequence.
  __device__ decltype(auto) problem() const {
    if constexpr (Shape::packed) {
      Problem of_sequence = arguments_.problem;
      of_sequence.seq_q = read(work().problem.seq_q);
      of_sequence.seq_kv = read(work().problem.seq_kv);
      return of_sequence;
    } else {
      return (arguments_.problem);
    }
  }

  /// This is the row of this thread's row half `half`.
  __device__ int row(int half) const {
    return first_row_ + first_row(threadIdx.x % warpgroup_threads) + half * row_half_distance;
  }

  /// Leaves this CTA's piece of the item, or all of it where this warp then has the whole.
  __device__ void leave(Output& output, RowSoftmax& softmax) const {
    ItemEnd end;
    read_pieces<Shape::reads_together>(work(), end);
    if (end.pieces == 1 || (end.pieces > 1 && merge(end.pieces, output, softmax))) {
      read_owner<Shape::reads_together>(work(), end);
      if constexpr (std::is_same_v<Results, CopiedResults>) {
        if (arguments_.partial_o == nullptr) {
          float factor[rows_a_thread];
          leave_sums(softmax, end.batch, end.head, factor);
          return copy_out(output, factor, end.batch, end.head);
        }
      }
      if constexpr (std::is_same_v<Results, RunningResults>) {
        store_running(output, softmax, end.batch, end.head);
      } else if constexpr (Shape::packed) {
        store_packed(output, softmax, end.head);
      } else {
        store(output, softmax, end.batch, end.head);
      }
    }
  }

  /// Log-sum-exp of the item, and the factors of its rows of O.
  __device__ void leave_sums(const RowSoftmax& softmax, int batch, int head,
                             float (&factor)[rows_a_thread]) const {
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const float sum = sum_of_quad(softmax.sum[half]);
      factor[half] = normalising_factor(sum);
      const bool valid = row(half) < arguments_.problem.seq_q;
      if (arguments_.lse != nullptr && valid && threadIdx.x % 4 == 0) {
        const int64_t flat_head = batch * arguments_.problem.heads + head;
        arguments_.lse[flat_head * arguments_.problem.seq_q + row(half)] =
            log_sum_exp(softmax.max[half], sum, arguments_.scale_log2);
      }
    }
  }

  /// O of the item by the copy engine, which leaves out rows behind the last.
  __device__ void copy_out(const Output& output, const float (&factor)[rows_a_thread], int batch,
                           int head) const {
    const int warp = int(threadIdx.x % warpgroup_threads / 32);
    copy_rows_out<Element, Shape::o_panels>(results_, output, factor, warpgroup_ * 4 + warp,
                                            first_row_ + warp * copied_rows, head, batch);
  }

  const Arguments& arguments_;
  const Results& results_;
  SharedStorage<Shape>& shared_;
  int warpgroup_;
  uint32_t turn_ = 0;  // items so far
  int first_row_ = 0;  // of this warpgroup

 private:
  /// Leaves a piece of an item; true where this warp came last and has the whole now.
  __device__ bool merge(int pieces, Output& output, RowSoftmax& softmax) const {
    const PieceStore<Shape> store(arguments_, read(work().item.pieces.first),
                                  thread_number() - warpgroup_threads);
    return store.merge(read(work().item.pieces.own), pieces, output, softmax);
  }

  /// By what a row of O is to be multiplied; one that saw no key gives 0.
  __device__ static float normalising_factor(float sum) {
    return sum == 0 ? 0 : __fdividef(1, sum);
  }

  /// O and log-sum-exp of the item, or with kv-split this part's.
  __device__ void store(const Output& output, const RowSoftmax& softmax, int batch,
                        int head) const {
    const bool split = arguments_.partial_o != nullptr;
    const int64_t flat_head = batch * arguments_.problem.heads + head;
    const int64_t flat_part =
        split ? flat_head * arguments_.schedule.kv_split + read(work().item.part) : flat_head;
    float* lse = split ? arguments_.partial_lse : arguments_.lse;
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const float sum = sum_of_quad(softmax.sum[half]);
      const float factor = normalising_factor(sum);
      const bool valid = row(half) < arguments_.problem.seq_q;
      const int64_t flat_row = flat_part * arguments_.problem.seq_q + row(half);
      if (split) {
        store_partial_row(arguments_.partial_o + flat_row * Shape::head_dim_v, output, half, factor,
                          valid);
      } else {
        store_row<Shape::short_items>(static_cast<Element*>(arguments_.o) +
                                          arguments_.o_strides.offset(batch, head, row(half)),
                                      output, half, factor, valid);
      }
      if (lse != nullptr && valid && threadIdx.x % 4 == 0) {
        lse[flat_row] = log_sum_exp(softmax.max[half], sum, arguments_.scale_log2);
      }
    }
  }

  /// The same of an item of a packed sequence, which has no parts.
  __device__ void store_packed(const Output& output, const RowSoftmax& softmax, int head) const {
    const int first_q = read(work().first_q);
    const int seq_q = read(work().problem.seq_q);
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const float sum = sum_of_quad(softmax.sum[half]);
      const float factor = normalising_factor(sum);
      const bool valid = row(half) < seq_q;
      const int64_t packed_row = first_q + row(half);
      store_row<Shape::short_items>(
          static_cast<Element*>(arguments_.o) + arguments_.o_strides.offset(0, head, packed_row),
          output, half, factor, valid);
      if (arguments_.lse != nullptr && valid && threadIdx.x % 4 == 0) {
        arguments_.lse[head * arguments_.q_rows + packed_row] =
            log_sum_exp(softmax.max[half], sum, arguments_.scale_log2);
      }
    }
  }

  /// O and log-sum-exp of the item together with those of the calls before.
  __device__ void store_running(Output& output, const RowSoftmax& softmax, int batch,
                                int head) const {
    float* lse[rows_a_thread];
    float earlier[rows_a_thread];
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      lse[half] = running_lse(results_, arguments_.problem.heads, batch, head, row(half));
      earlier[half] = earlier_lse(results_, lse[half], row(half) < arguments_.problem.seq_q);
    }
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      const float sum = sum_of_quad(softmax.sum[half]);
      const bool valid = row(half) < arguments_.problem.seq_q;
      const MergedRow merged =
          merged_row(earlier[half], log_sum_exp(softmax.max[half], sum, arguments_.scale_log2));
      const int64_t first = arguments_.o_strides.offset(batch, head, row(half));
      add_row_to_running(results_.o + first, output, half, sum == 0 ? 0 : merged.of_own / sum,
                         merged.of_earlier, valid);
      if (arguments_.o != nullptr) {
        store_row<Shape::short_items>(static_cast<Element*>(arguments_.o) + first, output, half, 1,
                                      valid);
      }
      __syncwarp();
      if (valid && threadIdx.x % 4 == 0) *lse[half] = merged.lse;
    }
  }
};

}  // namespace sawtooth::kernels::hopper
