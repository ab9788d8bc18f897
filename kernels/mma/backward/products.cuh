// The five products of a step of the backward pass (Dao, "FlashAttention-2", arXiv 2307.08691,
// algorithm 2), with S and dP transposed: a warp owns keys, so that P^T and dS^T stay in its
// registers as A operands of dV and dK, and only dS^T goes through shared memory, to dQ.
#pragma once

#include <cstddef>

#include "kernels/mma/backward/reductions.cuh"
#include "kernels/mma/backward/shape.cuh"
#include "kernels/mma/mask_range.hpp"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/tile_products.cuh"

namespace sawtooth::kernels {

/// A lane's bases of fragments in shared memory. They follow from the thread's number, read anew,
/// so that none is kept in a register from one product to the next.
template <class Shape>
struct LaneBases {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  uint32_t base;  // of the tiles

  /// This warp's keys of K, or V, as A.
  __device__ uint32_t keys(int offset) const {
    const int thread = thread_number();
    return base + offset +
           thread / 32 / Shape::query_groups * (Shape::key_blocks * 16 * KvTile::row_bytes) +
           KvTile::lane_offset_rows_first(thread % 32);
  }
  /// Rows of Q, or dO, as columns of B.
  __device__ uint32_t by_rows(int offset, int slot) const {
    return base + offset + slot * QTile::bytes +
           QTile::lane_offset_chunks_first(thread_number() % 32);
  }
  /// Rows of Q, or dO, as rows of B.
  __device__ uint32_t by_columns(int offset, int slot) const {
    return base + offset + slot * QTile::bytes +
           QTile::lane_offset_rows_first(thread_number() % 32);
  }
};

/// The first key of the K/V tile that this lane has in accumulators.
template <class Shape>
__device__ inline int lane_row() {
  const int thread = thread_number();
  return thread / 32 / Shape::query_groups * (Shape::key_blocks * 16) + thread % 32 / 4;
}

template <class Shape>
using ScoreFragments = float[Shape::key_blocks][Shape::score_columns / 8][4];

/// P^T from the scores in place; `lse_log2` are those of the columns.
template <class Shape>
__device__ inline void to_probabilities(ScoreFragments<Shape>& scores, const float* lse_log2,
                                        float scale_log2) {
  const int lane_column = thread_number() % 4 * 2;
#pragma unroll
  for (int n = 0; n < Shape::score_columns / 8; ++n) {
    const float2 lse = *reinterpret_cast<const float2*>(lse_log2 + n * 8 + lane_column);
#pragma unroll
    for (int block = 0; block < Shape::key_blocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* at = &scores[block][n][2 * half];
        at[0] = exp2_approximate(at[0] * scale_log2 - lse.x);
        at[1] = exp2_approximate(at[1] * scale_log2 - lse.y);
      }
  }
}

/// dS^T = P^T (dP^T - rowsum(dO * O)) in place of dP^T.
template <class Shape>
__device__ inline void to_score_gradients(ScoreFragments<Shape>& gradients,
                                          const ScoreFragments<Shape>& probabilities,
                                          const float* row_sums) {
  const int lane_column = thread_number() % 4 * 2;
#pragma unroll
  for (int n = 0; n < Shape::score_columns / 8; ++n) {
    const float2 sum = *reinterpret_cast<const float2*>(row_sums + n * 8 + lane_column);
#pragma unroll
    for (int block = 0; block < Shape::key_blocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float* at = &gradients[block][n][2 * half];
        const float* p = &probabilities[block][n][2 * half];
        at[0] = p[0] * (at[0] - sum.x);
        at[1] = p[1] * (at[1] - sum.y);
      }
  }
}

/// Columns [16 n, 16 n + 16) of accumulators as A fragments: two accumulator fragments of 8 columns
/// are one.
template <class Element, int RowBlocks, int Fragments>
__device__ inline void as_operand(uint32_t (&a)[RowBlocks][4],
                                  const float (&values)[RowBlocks][Fragments][4], int n) {
#pragma unroll
  for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const float* from = &values[block][2 * n + pair / 2][2 * (pair % 2)];
      a[block][pair] = TensorCore<Element>::pack(from[0], from[1]);
    }
}

/// Where this lane's first score lies in a tile of scores at `tile`.
template <class Shape>
__device__ inline uint32_t lane_scores(uint32_t tile) {
  return tile + uint32_t(Shape::ScoreTile::offset(0, lane_row<Shape>(), 0)) +
         thread_number() % 4 * 4;
}

/// A fragments of queries [16 n, 16 n + 16) into the tile whose lane_scores are `to`.
template <class Shape>
__device__ inline void store_scores(uint32_t to, const uint32_t (&a)[Shape::key_blocks][4], int n) {
  using ScoreTile = typename Shape::ScoreTile;
#pragma unroll
  for (int block = 0; block < Shape::key_blocks; ++block)
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int chunk = 2 * n + pair / 2;
      store_32_bits((to ^ (chunk % ScoreTile::row_chunks * chunk_bytes)) +
                        chunk / ScoreTile::row_chunks * ScoreTile::panel_bytes +
                        (block * 16 + pair % 2 * 8) * ScoreTile::row_bytes,
                    a[block][pair]);
    }
}

/// P in place of S: queries from `first_column` of the Q tile on, whose row `first_row` begins it;
/// what a key is not seen by becomes 0.
template <class Shape>
__device__ inline void to_seen_probabilities(ScoreFragments<Shape>& probabilities,
                                             const BackwardArguments& arguments,
                                             BackwardStorage<Shape>& storage, int slot, bool masked,
                                             int first_row, int first_column) {
  if (masked) {
    const int64_t first_key = storage.work.item.own_tile * Shape::kv_rows + lane_row<Shape>();
    hide_others(probabilities, [&](int key) {
      return seeing_rows_of(arguments.problem, first_key + key, first_row + first_column,
                            Shape::score_columns);
    });
  }
  to_probabilities<Shape>(probabilities, storage.tiles.lse_log2[slot] + first_column,
                          arguments.scale_log2);
}

/// The columns that begin at query `part` * score_columns of the Q tile: S^T and P^T, dV += P^T dO,
/// dP^T and dS^T, dK += dS^T Q, and with `adds_dq` dS^T to shared memory.
template <class Shape, bool adds_dq>
requires(!Shape::is_fp32) __device__
    inline void add_part(KeyGradients<Shape>& gradients, const BackwardArguments& arguments,
                         BackwardStorage<Shape>& storage, int slot, int part, bool masked,
                         int first_row) {
  using Tiles = BackwardTiles<Shape>;
  using Element = typename Shape::Element;
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  constexpr int column_blocks = Shape::score_columns / 16;
  const int first_block = part * column_blocks;
  const int first_column = part * Shape::score_columns;
  const LaneBases<Shape> at{shared_address(&storage.tiles)};
  const auto load_keys = [](uint32_t base) {
    return [base](uint32_t(&a)[4], int block, int k) {
      load_matrices(a, fragment_address<KvTile>(base, block, k));
    };
  };

  ScoreFragments<Shape> probabilities;
  multiply_by_transposed<Element, QTile, Shape::head_dim>(
      probabilities, load_keys(at.keys(offsetof(Tiles, k))), at.by_rows(offsetof(Tiles, q), slot),
      first_block);
  to_seen_probabilities<Shape>(probabilities, arguments, storage, slot, masked, first_row,
                               first_column);
  const uint32_t d_o_columns = at.by_columns(offsetof(Tiles, d_o), slot);
#pragma unroll
  for (int n = 0; n < column_blocks; ++n) {
    uint32_t a[Shape::key_blocks][4];
    as_operand<Element>(a, probabilities, n);
    add_product<Element, QTile>(gradients.dv, a, d_o_columns, first_block + n);
  }

  ScoreFragments<Shape> score_gradients;
  multiply_by_transposed<Element, QTile, Shape::head_dim>(
      score_gradients, load_keys(at.keys(offsetof(Tiles, v))),
      at.by_rows(offsetof(Tiles, d_o), slot), first_block);
  to_score_gradients<Shape>(score_gradients, probabilities,
                            storage.tiles.row_sums[slot] + first_column);
  const uint32_t q_columns = at.by_columns(offsetof(Tiles, q), slot);
  [[maybe_unused]] const uint32_t scores =
      lane_scores<Shape>(at.base + uint32_t(offsetof(Tiles, scores)));
#pragma unroll
  for (int n = 0; n < column_blocks; ++n) {
    uint32_t a[Shape::key_blocks][4];
    as_operand<Element>(a, score_gradients, n);
    if constexpr (adds_dq) store_scores<Shape>(scores, a, first_block + n);
    add_product<Element, QTile>(gradients.dk, a, q_columns, first_block + n);
  }
}

/// dQ += dS K: this warp's block of the Q tile, over all keys of the K/V tile, into the sums in
/// global memory. `sums` is where the tile begins, of which `rows` rows exist.
template <class Shape>
requires(!Shape::is_fp32) __device__
    inline void add_dq(const BackwardStorage<Shape>& storage, float* sums, int rows) {
  using Element = typename Shape::Element;
  using KvTile = typename Shape::KvTile;
  using ScoreTile = typename Shape::ScoreTile;
  constexpr int row_blocks = Shape::dq_rows / 16;
  constexpr int column_fragments = Shape::dq_columns / 8;
  const int thread = thread_number();
  const int lane = thread % 32;
  const int row_group = thread / 32 % Shape::dq_row_groups;
  const int column_group = thread / 32 / Shape::dq_row_groups;
  // dS^T has a row a key: transposed on its way it is A, K too is B.
  const uint32_t scores = column_base<ScoreTile>(
      shared_address(storage.tiles.scores) + ScoreTile::lane_offset_chunks_first(lane),
      row_group * row_blocks);
  const uint32_t keys =
      column_base<KvTile>(shared_address(storage.tiles.k) + KvTile::lane_offset_rows_first(lane),
                          column_group * column_fragments / 2);
  float dq[row_blocks][column_fragments][4];
  clear(dq);
#pragma unroll
  for (int key_block = 0; key_block < Shape::kv_rows / 16; ++key_block) {
    uint32_t a[row_blocks][4];
#pragma unroll
    for (int block = 0; block < row_blocks; ++block)
      load_matrices_transposed(a[block], fragment_address<ScoreTile>(scores, key_block, block));
    add_product<Element, KvTile>(dq, a, keys, key_block);
  }
  const int first_row = row_group * Shape::dq_rows;
  float* block_sums =
      sums + dq_block_offset(first_row, column_group * Shape::dq_columns, Shape::head_dim);
#pragma unroll
  for (int block = 0; block < row_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < column_fragments; ++n)
        add_row_pairs(block_sums + dq_block_offset(block * 16 + half * 8, n * 8, Shape::head_dim),
                      dq[block][n][2 * half], dq[block][n][2 * half + 1],
                      rows - first_row - block * 16 - half * 8);
}

}  // namespace sawtooth::kernels
