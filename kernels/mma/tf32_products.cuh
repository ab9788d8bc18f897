// The two products of a K/V tile of fp32 on tensor cores, by those of tf32_tiles.cuh.
#pragma once

#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/tf32_tiles.cuh"

namespace sawtooth::kernels {

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
requires(Shape::is_fp32 && !Shape::scalar) __device__
    inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            const WarpState<Shape>&, uint32_t q_lane, uint32_t k_lane,
                            int first_block) {
  using KvTile = typename Shape::KvTile;
  multiply_floats_by_transposed<typename Shape::QTile, KvTile, Shape::head_dim>(
      scores, q_lane, k_lane + first_block * 16 * KvTile::row_bytes);
}

/// O += exp2(S - reference) V.
template <class Shape>
requires(Shape::is_fp32 && !Shape::scalar) __device__
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
