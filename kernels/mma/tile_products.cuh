// A K/V tile's two products on tensor cores, and the mask between them.
#pragma once

#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels {

/// Address of the fragment of rows [16 r, 16 r + 16) at column block k, from a lane's base.
template <class Tile>
__device__ inline uint32_t fragment_address(uint32_t lane_base, int row_block, int k) {
  return (lane_base ^ Tile::column_block_xor(k)) +
         uint32_t(Tile::column_block_shift(k) + row_block * 16 * Tile::row_bytes);
}

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
__device__ inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                                   const WarpState<Shape>& state, uint32_t q_lane, uint32_t k_lane,
                                   int first_block) {
  using Core = TensorCore<typename Shape::Element>;
#pragma unroll
  for (auto& block : scores)
#pragma unroll
    for (auto& fragment : block)
#pragma unroll
      for (float& value : fragment) value = 0;
#pragma unroll
  for (int k = 0; k < Shape::head_dim / 16; ++k) {
    uint32_t q[Shape::row_blocks][4];
#pragma unroll
    for (int block = 0; block < Shape::row_blocks; ++block) {
      if constexpr (Shape::q_in_registers) {
#pragma unroll
        for (int i = 0; i < 4; ++i) q[block][i] = state.q[block][k][i];
      } else {
        load_matrices(q[block], fragment_address<typename Shape::QTile>(q_lane, block, k));
      }
    }
#pragma unroll
    for (int n = 0; n < Shape::score_columns / 16; ++n) {
      uint32_t b[4];
      load_matrices(b, fragment_address<typename Shape::KvTile>(k_lane, first_block + n, k));
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block) {
        Core::multiply_add(scores[block][2 * n], q[block], b[0], b[1]);
        Core::multiply_add(scores[block][2 * n + 1], q[block], b[2], b[3]);
      }
    }
  }
}

/// Scores of pairs that the mask hides become -inf. `first_row` is the lane's first row of the
/// warp's first block, `first_key` the key of column 0.
template <class Shape>
__device__ inline void hide_masked(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                                   const Problem& problem, int64_t first_row, int64_t first_key) {
  const int lane_column = thread_number() % 4 * 2;
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Range seen =
          seen_keys(problem, first_row + block * 16 + half * 8, first_key, Shape::score_columns);
      const int begin = int(seen.begin) - lane_column;
      const int end = int(seen.end) - lane_column;
#pragma unroll
      for (int n = 0; n < Shape::score_columns / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int column = n * 8 + i;
          if (column < begin || column >= end) scores[block][n][2 * half + i] = minus_infinity;
        }
    }
}

/// O += exp2(S - reference) V; the probabilities are rounded to the element type.
template <class Shape>
__device__ inline void multiply_pv(
    WarpState<Shape>& state, const float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
    uint32_t v_lane, int first_block, float scale_log2) {
  using Core = TensorCore<typename Shape::Element>;
  float reference[Shape::row_blocks][2];
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      reference[block][half] = state.softmax.reference(block, half, scale_log2);
#pragma unroll
  for (int n = 0; n < Shape::score_columns / 16; ++n) {
    // Two accumulator fragments of 8 columns are one A fragment of 16.
    uint32_t p[Shape::row_blocks][4];
#pragma unroll
    for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        const int half = pair % 2;
        const float* from = &scores[block][2 * n + pair / 2][2 * half];
        const float low = exp2_approximate(from[0] * scale_log2 - reference[block][half]);
        const float high = exp2_approximate(from[1] * scale_log2 - reference[block][half]);
        state.softmax.sum[block][half] += low + high;
        p[block][pair] = Core::pack(low, high);
      }
#pragma unroll
    for (int d = 0; d < Shape::head_dim / 16; ++d) {
      uint32_t b[4];
      load_matrices_transposed(
          b, fragment_address<typename Shape::KvTile>(v_lane, first_block + n, d));
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block) {
        Core::multiply_add(state.output[block][2 * d], p[block], b[0], b[1]);
        Core::multiply_add(state.output[block][2 * d + 1], p[block], b[2], b[3]);
      }
    }
  }
}

}  // namespace sawtooth::kernels
