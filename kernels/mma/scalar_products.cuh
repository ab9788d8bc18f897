// The products of fp32 tiles without tensor cores, a multiply-add for every term: the level that
// those of tf32_products.cuh are compared with. Lanes hold the same elements of S and O, so that
// the rest of the kernel is the same.
//
// A lane has rows g and g + 8 of a block (g = lane / 4), of S columns 2 t and 2 t + 1 of every
// eight keys (t = lane % 4), of O chunks output_chunk(2 t) and output_chunk(2 t + 1) of every panel
// (float_tile.hpp). Chunk c of row r lies at c ^ r, so that other chunks and rows are an XOR and an
// addition away. Lanes that read one chunk read it at once, and the others read other banks.
#pragma once

#include "kernels/mma/float_chunk.cuh"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/tile_products.cuh"

namespace sawtooth::kernels {

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
requires(Shape::scalar) __device__
    inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            const WarpState<Shape>&, uint32_t q_lane, uint32_t k_lane,
                            int first_block) {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  constexpr int chunks = KvTile::panel_floats / KvTile::chunk_floats;
  clear(scores);
#pragma unroll 1
  for (int panel = 0; panel < KvTile::panels; ++panel) {
    const uint32_t q_panel = q_lane + panel * QTile::panel_bytes;
    const uint32_t k_panel =
        k_lane + panel * KvTile::panel_bytes + first_block * 16 * KvTile::row_bytes;
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) {
      FloatChunk q[Shape::row_blocks][2];
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          q[block][half] = chunk_at((q_panel ^ uint32_t(chunk * chunk_bytes)) +
                                    (block * 16 + half * 8) * QTile::row_bytes);
#pragma unroll
      for (int n = 0; n < Shape::score_columns / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const FloatChunk key = chunk_at((k_panel ^ uint32_t((chunk ^ i) * chunk_bytes)) +
                                          (n * 8 + i) * KvTile::row_bytes);
#pragma unroll
          for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
              for (int j = 0; j < KvTile::chunk_floats; ++j) {
                float& score = scores[block][n][2 * half + i];
                score = fmaf(q[block][half].x[j], key.x[j], score);
              }
        }
    }
  }
}

/// O += P V of one key: `at` is the lane's first chunk of the key's row in panel 0, and `p` the
/// probabilities of the lane's rows.
template <class Shape>
__device__ inline void add_key(WarpState<Shape>& state, const float (&p)[Shape::row_blocks][2],
                               uint32_t at) {
  using KvTile = typename Shape::KvTile;
#pragma unroll
  for (int panel = 0; panel < KvTile::panels; ++panel)
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      // output_chunk(2 t + column) is t ^ output_chunk(column).
      const FloatChunk v = chunk_at((at ^ uint32_t(KvTile::output_chunk(column) * chunk_bytes)) +
                                    panel * KvTile::panel_bytes);
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int f = 0; f < KvTile::chunk_floats; ++f) {
            float& sum = state.output[block][KvTile::chunk_floats * panel + f][2 * half + column];
            sum = fmaf(p[block][half], v.x[f], sum);
          }
    }
}

/// O += exp2(S - reference) V. The probabilities of a row's keys come from the lanes of its quad.
template <class Shape>
requires(Shape::scalar) __device__
    inline void multiply_pv(WarpState<Shape>& state,
                            const float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            uint32_t v_lane, int first_block, float scale_log2) {
  using KvTile = typename Shape::KvTile;
  constexpr int quad = 4;
  float reference[Shape::row_blocks][2];
#pragma unroll
  for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      reference[block][half] = state.softmax.reference(block, half, scale_log2);
#pragma unroll
  for (int n = 0; n < Shape::score_columns / 8; ++n) {
    float own[Shape::row_blocks][4];
#pragma unroll
    for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        own[block][i] =
            exp2_approximate(fmaf(scores[block][n][i], scale_log2, -reference[block][i / 2]));
        state.softmax.sum[block][i / 2] += own[block][i];
      }
#pragma unroll
    for (int key = 0; key < 8; ++key) {
      float p[Shape::row_blocks][2];
#pragma unroll
      for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          p[block][half] = __shfl_sync(0xffffffff, own[block][2 * half + key % 2], key / 2, quad);
      add_key<Shape>(state, p,
                     (v_lane ^ uint32_t(key * chunk_bytes)) +
                         (first_block * 16 + n * 8 + key) * KvTile::row_bytes);
    }
  }
}

}  // namespace sawtooth::kernels
