// A step of the backward pass for a pair of warps that shares keys (Shape::query_groups of 2).
//
// A warp has 32 keys and half of the Q tile's queries of S^T and dP^T, so that every fragment of Q
// and dO that it loads serves four products instead of the two of 16 keys and all queries: shared
// memory is what limits these kernels. Of dK and dV it has its 32 keys and half of the columns. For
// the other half of the queries it reads P^T and dS^T as its neighbour wrote them, one behind the
// other into the tile that dQ needs anyway.
#pragma once

#include <cstddef>

#include "kernels/mma/backward/products.cuh"

namespace sawtooth::kernels {

/// Which half of the queries, and of the columns of dK and dV, this warp has.
template <class Shape>
__device__ inline int query_group() {
  return thread_number() / 32 % Shape::query_groups;
}

template <class Shape>
__device__ inline void wait_for_pair() {
  constexpr int threads = 32 * Shape::query_groups;
  wait_for_threads(1 + thread_number() / threads, threads);
}

template <class Shape>
using KeyGradient = float[Shape::key_blocks][Shape::gradient_columns / 8][4];

/// A lane's base of this warp's columns of Q, or dO, as rows of B, at the queries of a group.
template <class Shape>
__device__ inline uint32_t gradient_columns(uint32_t tile, int of_group) {
  using QTile = typename Shape::QTile;
  return column_base<QTile>(tile + uint32_t(of_group * (Shape::score_columns * QTile::row_bytes) +
                                            QTile::lane_offset_rows_first(thread_number() % 32)),
                            query_group<Shape>() * (Shape::gradient_columns / 16));
}

/// sum += scores B over this warp's queries, and the scores to shared memory; B is Q or dO, which
/// begins `offset` bytes behind the tiles.
template <class Shape>
__device__ inline void add_and_store(KeyGradient<Shape>& sum, const ScoreFragments<Shape>& scores,
                                     const BackwardStorage<Shape>& storage, int offset, int slot) {
  using Element = typename Shape::Element;
  using QTile = typename Shape::QTile;
  constexpr int column_blocks = Shape::score_columns / 16;
  const int group = query_group<Shape>();
  const uint32_t to = column_base<typename Shape::ScoreTile>(
      lane_scores<Shape>(shared_address(storage.tiles.scores)), group * column_blocks);
  uint32_t a[column_blocks][Shape::key_blocks][4];
#pragma unroll
  for (int n = 0; n < column_blocks; ++n) {
    as_operand<Element>(a[n], scores, n);
    store_scores<Shape>(to, a[n], n);
  }
  const uint32_t b = gradient_columns<Shape>(
      shared_address(&storage.tiles) + uint32_t(offset + slot * QTile::bytes), group);
#pragma unroll
  for (int n = 0; n < column_blocks; ++n) add_product<Element, QTile>(sum, a[n], b, n);
}

/// The same over the other warp's queries, when it has stored its scores.
template <class Shape>
__device__ inline void add_other_queries(KeyGradient<Shape>& sum,
                                         const BackwardStorage<Shape>& storage, int offset,
                                         int slot) {
  using Element = typename Shape::Element;
  using QTile = typename Shape::QTile;
  using ScoreTile = typename Shape::ScoreTile;
  constexpr int column_blocks = Shape::score_columns / 16;
  const int other = 1 - query_group<Shape>();
  const int thread = thread_number();
  const int first_key = thread / 32 / Shape::query_groups * (Shape::key_blocks * 16);
  const uint32_t scores =
      column_base<ScoreTile>(shared_address(storage.tiles.scores) +
                                 uint32_t(first_key * ScoreTile::row_bytes +
                                          ScoreTile::lane_offset_rows_first(thread % 32)),
                             other * column_blocks);
  const uint32_t b = gradient_columns<Shape>(
      shared_address(&storage.tiles) + uint32_t(offset + slot * QTile::bytes), other);
#pragma unroll
  for (int n = 0; n < column_blocks; ++n) {
    uint32_t a[Shape::key_blocks][4];
#pragma unroll
    for (int block = 0; block < Shape::key_blocks; ++block)
      load_matrices(a[block], fragment_address<ScoreTile>(scores, block, n));
    add_product<Element, QTile>(sum, a, b, n);
  }
}

/// S^T and P^T, dV += P^T dO, dP^T and dS^T of this warp's queries, and dK += dS^T Q over them
/// alone: add_other_queries gives dK the rest when all warps have stored dS^T.
template <class Shape>
__device__ inline void add_own_queries(KeyGradients<Shape>& gradients,
                                       const BackwardArguments& arguments,
                                       BackwardStorage<Shape>& storage, int slot, bool masked,
                                       int first_row) {
  using Tiles = BackwardTiles<Shape>;
  using Element = typename Shape::Element;
  using QTile = typename Shape::QTile;
  using KvTile = typename Shape::KvTile;
  const LaneBases<Shape> at{shared_address(&storage.tiles)};
  const auto load_keys = [](uint32_t base) {
    return [base](uint32_t(&a)[4], int block, int k) {
      load_matrices(a, fragment_address<KvTile>(base, block, k));
    };
  };
  const int first_column = query_group<Shape>() * Shape::score_columns;
  const uint32_t own_rows = uint32_t(first_column * QTile::row_bytes);

  ScoreFragments<Shape> probabilities;
  multiply_by_transposed<Element, QTile, Shape::head_dim>(
      probabilities, load_keys(at.keys(offsetof(Tiles, k))),
      at.by_rows(offsetof(Tiles, q), slot) + own_rows, 0);
  to_seen_probabilities<Shape>(probabilities, arguments, storage, slot, masked, first_row,
                               first_column);
  add_and_store<Shape>(gradients.dv, probabilities, storage, offsetof(Tiles, d_o), slot);
  wait_for_pair<Shape>();  // both have stored P^T
  add_other_queries<Shape>(gradients.dv, storage, offsetof(Tiles, d_o), slot);

  ScoreFragments<Shape> score_gradients;
  multiply_by_transposed<Element, QTile, Shape::head_dim>(
      score_gradients, load_keys(at.keys(offsetof(Tiles, v))),
      at.by_rows(offsetof(Tiles, d_o), slot) + own_rows, 0);
  to_score_gradients<Shape>(score_gradients, probabilities,
                            storage.tiles.row_sums[slot] + first_column);
  wait_for_pair<Shape>();  // both have read P^T
  add_and_store<Shape>(gradients.dk, score_gradients, storage, offsetof(Tiles, q), slot);
}

}  // namespace sawtooth::kernels
