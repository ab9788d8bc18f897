// Products of fp32 tiles on tensor cores that multiply tf32, of 11 significant bits: a number
// is its upper 11 bits and the rest, x = big + small, and x y is taken as big_x big_y + big_x
// small_y + small_x big_y ("3xTF32"; Markidis et al., arXiv 1803.04014; Ootomo and Yokota, arXiv
// 2203.03341). What is left out is 2^-22 of the product. Tensor cores round their sums towards
// zero, so sums over many steps, and those of which a nearly equal number is taken away, add up
// parts that begin at zero, by rounded additions. Layouts are those of shared_tile.hpp.
#pragma once

#include <cstdint>

#include "kernels/mma/float_chunk.cuh"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/shared_tile.hpp"

namespace sawtooth::kernels {

struct SplitFloat {
  uint32_t big;
  uint32_t small;
};
/// How a number gets its upper bits. `nearest` takes an instruction more; the rest is half as large
/// then and of both signs, so that what products leave out does not add up.
enum class UpperBits { cut, nearest };

/// Infinities stay in `big`, with a rest of NaN as that of NaN; it keeps the product NaN.
template <UpperBits upper = UpperBits::cut>
__device__ inline SplitFloat split(float x) {
  constexpr uint32_t upper_bits = 0xffffe000u;
  constexpr uint32_t half_of_last = upper == UpperBits::nearest ? 0x1000u : 0;
  const uint32_t big = (__float_as_uint(x) + half_of_last) & upper_bits;
  return {big, __float_as_uint(x - __uint_as_float(big))};
}

struct SplitChunk {
  uint32_t big[4];
  uint32_t small[4];
};
template <UpperBits upper = UpperBits::cut>
__device__ inline SplitChunk split_chunk_at(uint32_t address) {
  const FloatChunk whole = chunk_at(address);
  SplitChunk chunk;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const SplitFloat parts = split<upper>(whole.x[i]);
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

/// C += A B^T over columns [16 k, 16 k + 16), summed up by tensor cores. Lanes are the row_lane of
/// A's first row block, and of the row of tile B that is C's first column.
template <class ATile, class BTile, UpperBits upper, int RowBlocks, int Fragments>
__device__ inline void add_product_of_columns(float (&c)[RowBlocks][Fragments][4], uint32_t a_lane,
                                              uint32_t b_lane, int k) {
  // Fragments of 8 columns, so that products that follow are independent.
  constexpr int together = Fragments < 4 ? Fragments : 4;
  static_assert(Fragments % together == 0);
  uint32_t a[2][2][RowBlocks][4];  // big and small, of the two products
#pragma unroll
  for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const SplitChunk chunk =
          split_chunk_at<upper>((a_lane ^ ATile::block_xor(k)) + ATile::block_shift(k) +
                                (block * 16 + half * 8) * ATile::row_bytes);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[0][i / 2][block][i % 2 * 2 + half] = chunk.big[i];
        a[1][i / 2][block][i % 2 * 2 + half] = chunk.small[i];
      }
    }
#pragma unroll
  for (int first = 0; first < Fragments; first += together) {
    SplitChunk columns[together];
#pragma unroll
    for (int n = 0; n < together; ++n)
      columns[n] = split_chunk_at<upper>((b_lane ^ BTile::block_xor(k)) + BTile::block_shift(k) +
                                         (first + n) * 8 * BTile::row_bytes);
#pragma unroll
    for (int product = 0; product < tf32_products; ++product)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int n = 0; n < together; ++n)
#pragma unroll
          for (int block = 0; block < RowBlocks; ++block) {
            const auto& b = takes_small_b(product) ? columns[n].small : columns[n].big;
            multiply_add_tf32(c[block][first + n], a[takes_small_a(product)][i][block], b[2 * i],
                              b[2 * i + 1]);
          }
  }
}

/// C = A B^T over `Depth` columns, `Unroll` blocks of 16 of them at a time.
template <class ATile, class BTile, int Depth, int Unroll = Depth / 16, int RowBlocks,
          int Fragments>
__device__ inline void multiply_floats_by_transposed(float (&c)[RowBlocks][Fragments][4],
                                                     uint32_t a_lane, uint32_t b_lane) {
  clear(c);
#pragma unroll Unroll
  for (int k = 0; k < Depth / 16; ++k)
    add_product_of_columns<ATile, BTile, UpperBits::cut>(c, a_lane, b_lane, k);
}

/// The same to within few roundings, for a sum of which a nearly equal one is taken away: parts of
/// 16 columns are added by additions that round to the nearest.
template <class ATile, class BTile, int Depth, int RowBlocks, int Fragments>
__device__ inline void multiply_floats_by_transposed_in_parts(float (&c)[RowBlocks][Fragments][4],
                                                              uint32_t a_lane, uint32_t b_lane) {
  clear(c);
#pragma unroll 1  // more spills
  for (int k = 0; k < Depth / 16; ++k) {
    float part[RowBlocks][Fragments][4];
    clear(part);
    add_product_of_columns<ATile, BTile, UpperBits::nearest>(part, a_lane, b_lane, k);
    add_fragments(c, 0, part);
  }
}

/// A factor of 8 `Depths` columns in registers, big and small, as the accumulators of its columns
/// lie.
template <int Depths, int RowBlocks>
using SplitOperand = uint32_t[2][Depths][RowBlocks][4];

/// Element `i` of rows `half` of a block's columns [8 n, 8 n + 8) of a factor.
template <int Depths, int RowBlocks>
__device__ inline void set_operand(SplitOperand<Depths, RowBlocks>& a, int n, int block, int half,
                                   int i, float value) {
  const SplitFloat parts = split(value);
  a[0][n][block][2 * i + half] = parts.big;
  a[1][n][block][2 * i + half] = parts.small;
}

/// C += A B for the rows of B from `b_lane` on, a key_lane. Fragment 4 p + f of C are elements f of
/// the chunks of B's panel p.
template <class BTile, int RowBlocks, int Fragments, int Depths>
__device__ inline void add_float_product(float (&c)[RowBlocks][Fragments][4],
                                         const SplitOperand<Depths, RowBlocks>& a,
                                         uint32_t b_lane) {
#pragma unroll
  for (int panel = 0; panel < Fragments / 4; ++panel) {
    float sums[RowBlocks][4][4] = {};
#pragma unroll
    for (int n = 0; n < Depths; ++n) {
      const uint32_t at = b_lane + panel * BTile::panel_bytes + n * 8 * BTile::row_bytes;
      const SplitChunk even = split_chunk_at(at);
      const SplitChunk odd = split_chunk_at((at ^ BTile::next_key_xor) + BTile::row_bytes);
#pragma unroll
      for (int product = 0; product < tf32_products; ++product)
#pragma unroll
        for (int f = 0; f < 4; ++f)
#pragma unroll
          for (int block = 0; block < RowBlocks; ++block) {
            const bool small = takes_small_b(product);
            multiply_add_tf32(sums[block][f], a[takes_small_a(product)][n][block],
                              small ? even.small[f] : even.big[f],
                              small ? odd.small[f] : odd.big[f]);
          }
    }
    add_fragments(c, 4 * panel, sums);
  }
}

}  // namespace sawtooth::kernels
