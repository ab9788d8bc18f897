// The five products of a step of fp32, each three of tf32 on tensor cores (tf32_tiles.cuh). As in
// products.cuh a warp owns keys; accumulators lie as there, but those of dK, dV and dQ, whose
// fragments share chunks (shared_tile.hpp). dS^T goes through shared memory whole.
#pragma once

#include "kernels/mma/backward/products.cuh"
#include "kernels/mma/tf32_tiles.cuh"

namespace sawtooth::kernels {

/// A lane's fragments in shared memory begin where these say. They follow from the thread's number,
/// read anew, so that none is kept in a register from one product to the next.
template <class Shape>
struct FloatLaneBases {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;

  /// This warp's keys of K, or V.
  __device__ static uint32_t keys(const unsigned char* tile) {
    const int thread = thread_number();
    return shared_address(tile) + thread / 32 * (Shape::key_blocks * 16 * KvTile::row_bytes) +
           KvTile::row_lane(thread % 32);
  }
  /// Rows of Q, or dO, from `row` on as columns of the second factor, and as its rows.
  __device__ static uint32_t by_rows(const unsigned char* tile, int row) {
    return shared_address(tile) + row * QTile::row_bytes + QTile::row_lane(thread_number() % 32);
  }
  __device__ static uint32_t by_columns(const unsigned char* tile, int row) {
    // A bit mask, for a remainder of a signed number makes 16 x 32 tiles spill on sm_80.
    return shared_address(tile) + row * QTile::row_bytes + QTile::key_lane(thread_number() & 31);
  }
};

/// Accumulators as a factor of the next product.
template <int RowBlocks, int Fragments>
__device__ inline void split_operand(SplitOperand<Fragments, RowBlocks>& a,
                                     const float (&values)[RowBlocks][Fragments][4]) {
#pragma unroll
  for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
    for (int n = 0; n < Fragments; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          set_operand(a, n, block, half, i, values[block][n][2 * half + i]);
}

/// Where query `query` of key `key` lies in dS^T.
template <class Shape>
__device__ inline int score_offset(int key, int query) {
  using ScoreTile = typename Shape::ScoreTile;
  constexpr int floats = chunk_bytes / int(sizeof(float));
  const int chunk = query / floats;
  return ScoreTile::offset(chunk / ScoreTile::row_chunks, key, chunk % ScoreTile::row_chunks) +
         query % floats * int(sizeof(float));
}

/// This lane's part of dS^T to shared memory.
template <class Shape>
__device__ inline void store_float_scores(BackwardStorage<Shape>& storage,
                                          const ScoreFragments<Shape>& gradients,
                                          int first_column) {
  const int key = lane_row<Shape>();
  const int query = first_column + thread_number() % 4 * 2;
#pragma unroll
  for (int block = 0; block < Shape::key_blocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < Shape::score_columns / 8; ++n)
        *reinterpret_cast<float2*>(
            storage.tiles.scores +
            score_offset<Shape>(key + block * 16 + half * 8, query + n * 8)) =
            make_float2(gradients[block][n][2 * half], gradients[block][n][2 * half + 1]);
}

template <class Shape, bool adds_dq>
requires(Shape::is_fp32) __device__
    inline void add_part(KeyGradients<Shape>& gradients, const BackwardArguments& arguments,
                         BackwardStorage<Shape>& storage, int slot, int part, bool masked,
                         int first_row) {
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  using At = FloatLaneBases<Shape>;
  const int first_column = part * Shape::score_columns;
  const unsigned char* const q = storage.tiles.q[slot];
  const unsigned char* const d_o = storage.tiles.d_o[slot];
  constexpr int unroll = 2;  // more spills at head dim 128
  SplitOperand<Shape::score_columns / 8, Shape::key_blocks> factor;

  ScoreFragments<Shape> probabilities;
  multiply_floats_by_transposed<KvTile, QTile, Shape::head_dim, unroll>(
      probabilities, At::keys(storage.tiles.k), At::by_rows(q, first_column));
  to_seen_probabilities<Shape>(probabilities, arguments, storage, slot, masked, first_row,
                               first_column);
  split_operand(factor, probabilities);
  add_float_product<QTile>(gradients.dv, factor, At::by_columns(d_o, first_column));

  ScoreFragments<Shape> score_gradients;
  multiply_floats_by_transposed_in_parts<KvTile, QTile, Shape::head_dim>(
      score_gradients, At::keys(storage.tiles.v), At::by_rows(d_o, first_column));
  to_score_gradients<Shape>(score_gradients, probabilities,
                            storage.tiles.row_sums[slot] + first_column);
  if constexpr (adds_dq) store_float_scores<Shape>(storage, score_gradients, first_column);
  split_operand(factor, score_gradients);
  add_float_product<QTile>(gradients.dk, factor, At::by_columns(q, first_column));
}

template <class Shape>
requires(Shape::is_fp32) __device__
    inline void add_dq(const BackwardStorage<Shape>& storage, float* sums, int rows) {
  using KvTile = typename Shape::KvTile;
  constexpr int depths = 4;  // of 8 keys, whose dS is in registers at a time
  constexpr int fragments = Shape::dq_columns / 8;
  static_assert(Shape::kv_rows % (depths * 8) == 0);
  static_assert((Shape::dq_row_groups & (Shape::dq_row_groups - 1)) == 0);
  const int thread = thread_number();
  // Shifts and bits: divisions of signed numbers take registers that are not there.
  const int lane = thread & 31;
  const int row_group = thread >> 5 & (Shape::dq_row_groups - 1);
  const int first_panel =
      thread / 32 / Shape::dq_row_groups * (Shape::dq_columns / KvTile::panel_floats);
  const int first_row = row_group * Shape::dq_rows;
  const unsigned char* scores[2][2];  // of rows half and key i
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      scores[half][i] = storage.tiles.scores +
                        score_offset<Shape>(lane % 4 * 2 + i, first_row + half * 8 + lane / 4);
  const uint32_t keys =
      shared_address(storage.tiles.k) + first_panel * KvTile::panel_bytes + KvTile::key_lane(lane);
  float dq[1][fragments][4];
  clear(dq);
#pragma unroll
  for (int first = 0; first < Shape::kv_rows / 8; first += depths) {
    SplitOperand<depths, 1> a;
#pragma unroll
    for (int n = 0; n < depths; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          set_operand(a, n, 0, half, i,
                      *reinterpret_cast<const float*>(
                          scores[half][i] + (first + n) * 8 * Shape::ScoreTile::row_bytes));
    add_float_product<KvTile>(dq, a, keys + first * 8 * KvTile::row_bytes);
  }
  float* block_sums =
      sums + dq_block_offset(first_row, first_panel * KvTile::panel_floats, Shape::head_dim);
#pragma unroll
  for (int panel = 0; panel < fragments / 4; ++panel)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int column = 0; column < 2; ++column) {
        const auto value = [&](int f) { return dq[0][4 * panel + f][2 * half + column]; };
        const float values[4] = {value(0), value(1), value(2), value(3)};
        // Lanes have the chunks KvTile::output_chunk of the panel's half `column`.
        constexpr int half_floats = KvTile::panel_floats / 2;
        static_assert(half_floats == dq_block_columns<float>);
        add_row_chunks(
            block_sums + dq_block_offset(half * 8,
                                         panel * KvTile::panel_floats + column * half_floats,
                                         Shape::head_dim),
            values, column, rows - first_row - half * 8);
      }
}

}  // namespace sawtooth::kernels
