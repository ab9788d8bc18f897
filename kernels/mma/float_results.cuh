// The end of an item of fp32: O straight from the accumulators, where a lane has 16 bytes in a row
// and a quad whole sectors (float_tile.hpp).
#pragma once

#include "kernels/mma/arguments.hpp"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/row_summary.cuh"

namespace sawtooth::kernels {

/// Calls `use(dim, values)` for every four neighbours of O that this lane has in a row.
template <class Shape, class Use>
__device__ inline void for_each_chunk(WarpState<Shape>& state, int block, int half, Use use) {
  using Tile = typename Shape::KvTile;
#pragma unroll
  for (int panel = 0; panel < Tile::panels; ++panel)
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const int chunk = Tile::output_chunk(2 * (thread_number() % 4) + column);
      float* values[Tile::chunk_floats];
#pragma unroll
      for (int f = 0; f < Tile::chunk_floats; ++f)
        values[f] = &state.output[block][Tile::chunk_floats * panel + f][2 * half + column];
      use(panel * Tile::panel_floats + chunk * Tile::chunk_floats, values);
    }
}

/// O of a row, times `factor`, to `row`.
template <class Shape>
__device__ inline void write_float_row(WarpState<Shape>& state, int block, int half, float factor,
                                       float* row) {
  for_each_chunk<Shape>(state, block, half, [&](int dim, float*(&values)[4]) {
    *reinterpret_cast<float4*>(row + dim) = make_float4(*values[0] * factor, *values[1] * factor,
                                                        *values[2] * factor, *values[3] * factor);
  });
}

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
        write_float_row<Shape>(state, block, half, rows[block][half].inverse_sum, to(row));
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
