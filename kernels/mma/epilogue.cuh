// The end of an item: O = O / sum and the log-sum-exp of every row, or with kv-split their float
// partial results.
#pragma once

#include <type_traits>

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/row_store.cuh"
#include "kernels/mma/running_results.cuh"

namespace sawtooth::kernels {

/// O in the element type, through the warp's own rows of Q in shared memory.
template <class Shape>
requires(!Shape::is_fp32) __device__
    inline void write_output(const ForwardArguments& arguments, const Item& item,
                             const WarpState<Shape>& state,
                             const RowSummary (&rows)[Shape::row_blocks][2], unsigned char* shared,
                             int64_t first_row) {
  __syncwarp();  // the warp has read its Q
  store_warp_rows<typename Shape::QTile, typename Shape::Element>(
      state.output, [&](int block, int half) { return rows[block][half].inverse_sum; }, shared,
      arguments.o, arguments.o_strides, item.batch, item.head, first_row, arguments.problem.seq_q);
}

/// With kv-split: float O, normalised by this part's own sum. Four lanes write a sector.
template <class Shape>
requires(!Shape::is_fp32) __device__
    inline void write_partial_output(const ForwardArguments& arguments, int64_t flat_part,
                                     const WarpState<Shape>& state,
                                     const RowSummary (&rows)[Shape::row_blocks][2],
                                     int64_t lane_row) {
  float* to = arguments.partial_o + flat_part * arguments.problem.seq_q * Shape::head_dim_v;
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = lane_row + block * 16 + half * 8;
      const float factor = rows[block][half].inverse_sum;
      if (row < arguments.problem.seq_q) {
#pragma unroll
        for (int n = 0; n < Shape::head_dim_v / 8; ++n)
          *reinterpret_cast<float2*>(to + row * Shape::head_dim_v + n * 8 + threadIdx.x % 4 * 2) =
              make_float2(state.output[block][n][2 * half] * factor,
                          state.output[block][n][2 * half + 1] * factor);
      }
    }
}

// Of fp32: O straight from the accumulators.

/// O of this lane's rows from `lane_row` on, each times its sum's inverse, to `to(row)`.
template <class Shape, class To>
__device__ inline void write_float_rows(const ForwardArguments& arguments, WarpState<Shape>& state,
                                        const RowSummary (&rows)[Shape::row_blocks][2],
                                        int64_t lane_row, To to) {
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = lane_row + block * 16 + half * 8;
      if (row < arguments.problem.seq_q)
        write_float_row<typename Shape::KvTile>(state.output[block], half,
                                                rows[block][half].inverse_sum, to(row));
    }
}

template <class Shape>
requires(Shape::is_fp32) __device__
    inline void write_output(const ForwardArguments& arguments, const Item& item,
                             WarpState<Shape>& state,
                             const RowSummary (&rows)[Shape::row_blocks][2], unsigned char*,
                             int64_t first_row) {
  const int64_t lane_row =
      first_row + threadIdx.x / 32 * (Shape::row_blocks * 16) + threadIdx.x % 32 / 4;
  write_float_rows<Shape>(arguments, state, rows, lane_row, [&](int64_t row) {
    return static_cast<float*>(arguments.o) +
           arguments.o_strides.offset(item.batch, item.head, row);
  });
}

/// With kv-split: normalised by this part's own sum.
template <class Shape>
requires(Shape::is_fp32) __device__
    inline void write_partial_output(const ForwardArguments& arguments, int64_t flat_part,
                                     WarpState<Shape>& state,
                                     const RowSummary (&rows)[Shape::row_blocks][2],
                                     int64_t lane_row) {
  float* part = arguments.partial_o + flat_part * arguments.problem.seq_q * Shape::head_dim;
  write_float_rows<Shape>(arguments, state, rows, lane_row,
                          [&](int64_t row) { return part + row * Shape::head_dim; });
}

/// Adds what calls before have left, leaves the sum there and keeps it, normalised, in `state`.
template <class Shape>
__device__ inline void merge_running(const ForwardArguments& arguments,
                                     const RunningResults& running, const Item& item,
                                     WarpState<Shape>& state,
                                     RowSummary (&rows)[Shape::row_blocks][2], int64_t lane_row) {
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = lane_row + block * 16 + half * 8;
      const bool valid = row < arguments.problem.seq_q;
      float* const lse = running_lse(running, arguments.problem.heads, item.batch, item.head, row);
      const MergedRow merged = merged_row(earlier_lse(running, lse, valid), rows[block][half].lse);
      const float factor = rows[block][half].inverse_sum * merged.of_own;
      float* const to = running.o + arguments.o_strides.offset(item.batch, item.head, row);
      if (valid) {
#pragma unroll
        for (int n = 0; n < Shape::head_dim_v / 8; ++n) {
          float(&pair)[4] = state.output[block][n];
          float* const at = to + n * 8 + threadIdx.x % 4 * 2;
          const float2 sum = store_sum(at, make_float2(pair[2 * half], pair[2 * half + 1]), factor,
                                       earlier_pair(at, merged.of_earlier), merged.of_earlier);
          pair[2 * half] = sum.x;
          pair[2 * half + 1] = sum.y;
        }
      }
      __syncwarp();
      if (valid && threadIdx.x % 4 == 0) *lse = merged.lse;
      rows[block][half].inverse_sum = 1;
    }
}

/// `shared` is Q's place, of which a warp uses its own rows only; `Results` OwnResults or
/// RunningResults.
template <class Shape, class Results>
__device__ inline void write_results(const ForwardArguments& arguments, const Results& results,
                                     const Item& item, WarpState<Shape>& state,
                                     unsigned char* shared, int64_t first_row) {
  const int64_t lane_row =
      first_row + threadIdx.x / 32 * (Shape::row_blocks * 16) + threadIdx.x % 32 / 4;
  const int64_t flat_head = item.batch * arguments.problem.heads + item.head;
  const bool split = arguments.schedule.kv_split > 1;
  const int64_t flat_part = split ? flat_head * arguments.schedule.kv_split + item.part : flat_head;
  float* lse = split ? arguments.partial_lse : arguments.lse;
  RowSummary rows[Shape::row_blocks][2];
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      rows[block][half] = summarise_row(state.softmax.maximum[block][half],
                                        state.softmax.sum[block][half], arguments.scale_log2);
      const int64_t row = lane_row + block * 16 + half * 8;
      if (lse != nullptr && threadIdx.x % 4 == 0 && row < arguments.problem.seq_q)
        lse[flat_part * arguments.problem.seq_q + row] = rows[block][half].lse;
    }
  if constexpr (std::is_same_v<Results, RunningResults>) {
    merge_running<Shape>(arguments, results, item, state, rows, lane_row);
    if (arguments.o == nullptr) return;
  }
  if (split)
    write_partial_output<Shape>(arguments, flat_part, state, rows, lane_row);
  else
    write_output<Shape>(arguments, item, state, rows, shared, first_row);
}

}  // namespace sawtooth::kernels
