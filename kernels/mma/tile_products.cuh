// Products of tiles on tensor cores; of a K/V tile its two, and the mask between them.
#pragma once

#include "kernels/common/lane_columns.hpp"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/tf32_tiles.cuh"

namespace sawtooth::kernels {

/// Address of the fragment of rows [16 r, 16 r + 16) at column block k, from a lane's base.
template <class Tile>
__device__ inline uint32_t fragment_address(uint32_t lane_base, int row_block, int k) {
  return (lane_base ^ Tile::column_block_xor(k)) +
         uint32_t(Tile::column_block_shift(k) + row_block * 16 * Tile::row_bytes);
}

/// The lane base moved to column block k, for a k that is known at run time.
template <class Tile>
__device__ inline uint32_t column_base(uint32_t lane_base, int k) {
  return (lane_base ^ Tile::column_block_xor(k)) + uint32_t(Tile::column_block_shift(k));
}

/// C = A B^T over `Depth` columns. `load_a(a, block, k)` gives A's fragment of a row block and
/// column block; B is a tile whose rows from row block `first_block` on are C's columns, `b_lane`
/// its lane_offset_chunks_first.
template <class Element, class BTile, int Depth, int RowBlocks, int Fragments, class LoadA>
__device__ inline void multiply_by_transposed(float (&c)[RowBlocks][Fragments][4], LoadA load_a,
                                              uint32_t b_lane, int first_block) {
  using Core = TensorCore<Element>;
  clear(c);
#pragma unroll
  for (int k = 0; k < Depth / 16; ++k) {
    uint32_t a[RowBlocks][4];
#pragma unroll
    for (int block = 0; block < RowBlocks; ++block) load_a(a[block], block, k);
#pragma unroll
    for (int n = 0; n < Fragments / 2; ++n) {
      uint32_t b[4];
      load_matrices(b, fragment_address<BTile>(b_lane, first_block + n, k));
#pragma unroll
      for (int block = 0; block < RowBlocks; ++block) {
        Core::multiply_add(c[block][2 * n], a[block], b[0], b[1]);
        Core::multiply_add(c[block][2 * n + 1], a[block], b[2], b[3]);
      }
    }
  }
}

/// C += A B for the 16 columns of A that are row block `row_block` of tile B; `b_lane` is B's
/// lane_offset_rows_first.
template <class Element, class BTile, int RowBlocks, int Fragments>
__device__ inline void add_product(float (&c)[RowBlocks][Fragments][4],
                                   const uint32_t (&a)[RowBlocks][4], uint32_t b_lane,
                                   int row_block) {
  using Core = TensorCore<Element>;
#pragma unroll
  for (int d = 0; d < Fragments / 2; ++d) {
    uint32_t b[4];
    load_matrices_transposed(b, fragment_address<BTile>(b_lane, row_block, d));
#pragma unroll
    for (int block = 0; block < RowBlocks; ++block) {
      Core::multiply_add(c[block][2 * d], a[block], b[0], b[1]);
      Core::multiply_add(c[block][2 * d + 1], a[block], b[2], b[3]);
    }
  }
}

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
requires(!Shape::is_fp32) __device__
    inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            const WarpState<Shape>& state, uint32_t q_lane, uint32_t k_lane,
                            int first_block) {
  const auto load_q = [&](uint32_t(&q)[4], int block, int k) {
    if constexpr (Shape::q_in_registers) {
#pragma unroll
      for (int i = 0; i < 4; ++i) q[i] = state.q[block][k][i];
    } else {
      load_matrices(q, fragment_address<typename Shape::QTile>(q_lane, block, k));
    }
  };
  multiply_by_transposed<typename Shape::Element, typename Shape::KvTile, Shape::head_dim>(
      scores, load_q, k_lane, first_block);
}

/// Scores outside of what `kept(row)` gives, the columns that stay of a lane's row, become -inf.
/// Rows are counted from the lane's first row of the warp's first block.
template <int Blocks, int Fragments, class Kept>
__device__ inline void hide_others(float (&scores)[Blocks][Fragments][4], Kept kept) {
  const int lane_column = thread_number() % 4 * 2;
#pragma unroll
  for (int block = 0; block < Blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Range columns = kept(block * 16 + half * 8);
      const int begin = int(columns.begin) - lane_column;
      const int end = int(columns.end) - lane_column;
#pragma unroll
      for (int n = 0; n < Fragments; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int column = n * 8 + i;
          if (column < begin || column >= end) scores[block][n][2 * half + i] = minus_infinity;
        }
    }
}

/// The same where `spans(row)` are the keys that a row sees; `first_key` is that of the tile's
/// part.
template <int Blocks, int Fragments, class Spans>
__device__ inline void hide_unseen(float (&scores)[Blocks][Fragments][4], int first_key,
                                   Spans spans) {
  const int first_of_lane = first_key + thread_number() % 4 * 2;
#pragma unroll
  for (int block = 0; block < Blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      static_assert(2 * Fragments <= 32, "a bit an accumulator of a row");
      const auto seen =
          uint32_t(accumulators_in(spans(block * 16 + half * 8), first_of_lane, 8 * Fragments));
#pragma unroll
      for (int n = 0; n < Fragments; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (!(seen >> (2 * n + i) & 1)) scores[block][n][2 * half + i] = minus_infinity;
    }
}

/// O += exp2(S - reference) V; the probabilities are rounded to the element type.
template <class Shape>
requires(!Shape::is_fp32) __device__
    inline void multiply_pv(WarpState<Shape>& state,
                            const float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
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
    add_product<typename Shape::Element, typename Shape::KvTile>(state.output, p, v_lane,
                                                                 first_block + n);
  }
}

// The two products of a K/V tile of fp32 on tensor cores, by those of tf32_tiles.cuh.

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
requires(Shape::is_fp32) __device__
    inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            const WarpState<Shape>&, uint32_t q_lane, uint32_t k_lane,
                            int first_block) {
  using KvTile = typename Shape::KvTile;
  multiply_floats_by_transposed<typename Shape::QTile, KvTile, Shape::head_dim>(
      scores, q_lane, k_lane + first_block * 16 * KvTile::row_bytes);
}

/// O += exp2(S - reference) V.
template <class Shape>
requires(Shape::is_fp32) __device__
    inline void multiply_pv(WarpState<Shape>& state,
                            const float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            uint32_t v_lane, int first_block, float scale_log2) {
  using KvTile = typename Shape::KvTile;
  constexpr int blocks = Shape::row_blocks;
  constexpr int fragments = Shape::score_columns / 8;
  SplitOperand<fragments, blocks> p;
#pragma unroll
  for (int block = 0; block < blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float reference = state.softmax.reference(block, half, scale_log2);
#pragma unroll
      for (int n = 0; n < fragments; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const float value =
              exp2_approximate(fmaf(scores[block][n][2 * half + i], scale_log2, -reference));
          state.softmax.sum[block][half] += value;
          set_operand(p, n, block, half, i, value);
        }
    }
  add_float_product<KvTile>(state.output, p, v_lane + first_block * 16 * KvTile::row_bytes);
}

}  // namespace sawtooth::kernels
