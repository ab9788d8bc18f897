// The products of fp32 tiles on tensor cores that multiply tf32, of 11 significant bits: a number
// is its upper 11 bits and the rest, x = big + small, and x y is taken as big_x big_y + big_x
// small_y + small_x big_y ("3xTF32"; Markidis et al., arXiv 1803.04014; Ootomo and Yokota, arXiv
// 2203.03341). What is left out is 2^-22 of the product. Tensor cores round their sums towards
// zero, so O takes the product of each part of a step from accumulators that begin at zero, by
// rounded additions.
#pragma once

#include "kernels/mma/float_chunk.cuh"
#include "kernels/mma/forward_shape.cuh"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels {

/// c += a b with a 16x8, b 8x8, c 16x8; tensor cores read the upper 19 bits of the numbers.
__device__ inline void multiply_add_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                         uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

struct SplitFloat {
  uint32_t big;
  uint32_t small;
};
/// Infinities and NaN stay in `big`, with a rest of NaN that keeps the product NaN.
__device__ inline SplitFloat split(float x) {
  constexpr uint32_t upper_bits = 0xffffe000u;
  const uint32_t big = __float_as_uint(x) & upper_bits;
  return {big, __float_as_uint(x - __uint_as_float(big))};
}

struct SplitChunk {
  uint32_t big[4];
  uint32_t small[4];
};
__device__ inline SplitChunk split_chunk_at(uint32_t address) {
  const FloatChunk whole = chunk_at(address);
  SplitChunk chunk;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SplitFloat parts = split(whole.x[i]);
    chunk.big[i] = parts.big;
    chunk.small[i] = parts.small;
  }
  return chunk;
}

/// Which parts of two factors a product takes, the small ones first.
inline constexpr int tf32_products = 3;
__device__ constexpr bool takes_small_a(int product) {
  return product == 0;
}
__device__ constexpr bool takes_small_b(int product) {
  return product == 1;
}

/// S = Q K^T for `score_columns` keys from row block `first_block` of the K tile on.
template <class Shape>
requires(Shape::is_fp32 && !Shape::scalar) __device__
    inline void multiply_qk(float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            const WarpState<Shape>&, uint32_t q_lane, uint32_t k_lane,
                            int first_block) {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  constexpr int fragments = Shape::score_columns / 8;
  constexpr int together = 4;  // fragments of 8 keys, so that products that follow are independent
  static_assert(fragments % together == 0);
#pragma unroll
  for (auto& block : scores)
#pragma unroll
    for (auto& fragment : block)
#pragma unroll
      for (float& value : fragment) value = 0;
#pragma unroll
  for (int k = 0; k < Shape::head_dim / 16; ++k) {
    uint32_t q[2][2][Shape::row_blocks][4];  // big and small, of the two products
#pragma unroll
    for (int block = 0; block < Shape::row_blocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const SplitChunk chunk =
            split_chunk_at((q_lane ^ QTile::block_xor(k)) + QTile::block_shift(k) +
                           (block * 16 + half * 8) * QTile::row_bytes);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          q[0][i / 2][block][i % 2 * 2 + half] = chunk.big[i];
          q[1][i / 2][block][i % 2 * 2 + half] = chunk.small[i];
        }
      }
#pragma unroll
    for (int first = 0; first < fragments; first += together) {
      SplitChunk keys[together];
#pragma unroll
      for (int n = 0; n < together; ++n)
        keys[n] = split_chunk_at((k_lane ^ KvTile::block_xor(k)) + KvTile::block_shift(k) +
                                 (first_block * 16 + (first + n) * 8) * KvTile::row_bytes);
#pragma unroll
      for (int product = 0; product < tf32_products; ++product)
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int n = 0; n < together; ++n)
#pragma unroll
            for (int block = 0; block < Shape::row_blocks; ++block) {
              const auto& b = takes_small_b(product) ? keys[n].small : keys[n].big;
              multiply_add_tf32(scores[block][first + n], q[takes_small_a(product)][i][block],
                                b[2 * i], b[2 * i + 1]);
            }
    }
  }
}

/// O += exp2(S - reference) V. Fragment 4 p + f of the output are elements f of chunks of panel p.
template <class Shape>
requires(Shape::is_fp32 && !Shape::scalar) __device__
    inline void multiply_pv(WarpState<Shape>& state,
                            const float (&scores)[Shape::row_blocks][Shape::score_columns / 8][4],
                            uint32_t v_lane, int first_block, float scale_log2) {
  using KvTile = typename Shape::KvTile;
  constexpr int blocks = Shape::row_blocks;
  constexpr int fragments = Shape::score_columns / 8;
  uint32_t p[2][fragments][blocks][4];  // big and small
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
          const SplitFloat parts = split(value);
          p[0][n][block][2 * i + half] = parts.big;
          p[1][n][block][2 * i + half] = parts.small;
        }
    }
#pragma unroll
  for (int panel = 0; panel < KvTile::panels; ++panel) {
    float sums[blocks][4][4] = {};
#pragma unroll
    for (int n = 0; n < fragments; ++n) {
      const int rows = first_block * 16 + n * 8;
      const uint32_t at = v_lane + panel * KvTile::panel_bytes + rows * KvTile::row_bytes;
      const SplitChunk even = split_chunk_at(at);
      const SplitChunk odd = split_chunk_at((at ^ KvTile::next_key_xor) + KvTile::row_bytes);
#pragma unroll
      for (int product = 0; product < tf32_products; ++product)
#pragma unroll
        for (int f = 0; f < 4; ++f)
#pragma unroll
          for (int block = 0; block < blocks; ++block) {
            const bool small = takes_small_b(product);
            multiply_add_tf32(sums[block][f], p[takes_small_a(product)][n][block],
                              small ? even.small[f] : even.big[f],
                              small ? odd.small[f] : odd.big[f]);
          }
    }
#pragma unroll
    for (int block = 0; block < blocks; ++block)
#pragma unroll
      for (int f = 0; f < 4; ++f)
#pragma unroll
        for (int i = 0; i < 4; ++i) state.output[block][4 * panel + f][i] += sums[block][f][i];
  }
}

}  // namespace sawtooth::kernels
