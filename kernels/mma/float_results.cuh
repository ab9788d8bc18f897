// The end of an item of fp32: O straight from the accumulators.
#pragma once

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/row_store.cuh"

namespace sawtooth::kernels {

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

}  // namespace sawtooth::kernels
