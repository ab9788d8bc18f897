// What one variant of the backward kernel is made of: its shape, its shared memory, a warp's
// registers.
#pragma once

#include <type_traits>

#include "kernels/mma/backward/arguments.hpp"
#include "kernels/mma/shared_tile.hpp"
#include "kernels/mma/work_item.cuh"
#include "scheduler/dq_order.hpp"

namespace sawtooth::kernels {

/// A warp owns 16 or 32 keys of the K/V tile for S^T, dP^T, dK and dV, and for dQ a block of 32
/// rows, of fp32 16. With two query groups a pair of warps shares keys: each has half of the
/// queries of S^T and dP^T, and half of the columns of dK and dV.
template <class ElementType_, int HeadDim, int QRows, int KvRows, int Warps, int Stages,
          int ScoreColumns, int CtasPerSm, int QueryGroups = 1>
struct BackwardShape {
  using Element = ElementType_;
  static constexpr int head_dim = HeadDim;
  static constexpr int q_rows = QRows;
  static constexpr int kv_rows = KvRows;
  static constexpr int warps = Warps;
  static constexpr int threads = Warps * 32;
  static constexpr int stages = Stages;               // of Q, dO and their numbers a row
  static constexpr int score_columns = ScoreColumns;  // queries of S^T in registers at a time
  static constexpr int ctas_per_sm = CtasPerSm;
  static constexpr int query_groups = QueryGroups;                        // warps that share keys
  static constexpr int key_blocks = KvRows * QueryGroups / (16 * Warps);  // of 16 keys, a warp
  static constexpr int gradient_columns = HeadDim / QueryGroups;          // of dK and dV, a warp
  static constexpr bool is_fp32 = std::is_same_v<Element, float>;
  static constexpr int dq_rows = is_fp32 ? 16 : 32;  // of a warp's block of dQ
  static constexpr int dq_row_groups = QRows / dq_rows;
  static constexpr int dq_columns = HeadDim * dq_row_groups / Warps;
  static_assert(key_blocks * 16 * Warps == KvRows * QueryGroups && QRows % ScoreColumns == 0 &&
                ScoreColumns % 16 == 0 && Stages >= 2);
  static_assert(dq_row_groups * dq_rows == QRows && dq_row_groups * HeadDim == Warps * dq_columns &&
                dq_columns % 32 == 0 && Warps % dq_row_groups == 0);
  static_assert(QueryGroups == 1 || (QueryGroups == 2 && ScoreColumns * 2 == QRows));
  static_assert(row_padding % QRows == 0 && QRows <= threads * 2);
  /// Whether dq = separate has a kernel of these tiles: one for each head dim and size of a Q tile.
  static constexpr bool has_dq_kernel = KvRows == 64;
  static_assert(QueryGroups == 1 || !has_dq_kernel);

  template <int Rows>
  using Tile = std::conditional_t<is_fp32, FloatTile<Rows, HeadDim>, SharedTile<Rows, HeadDim>>;
  using QTile = Tile<QRows>;
  using KvTile = Tile<KvRows>;
  // dS^T: a row a key, of fp32 two columns of 16 bits an element
  using ScoreTile = SharedTile<KvRows, is_fp32 ? 2 * QRows : QRows>;
  SAWTOOTH_HD static constexpr Tiling tiling() { return {QRows, KvRows}; }
};

/// An item of the backward pass. A step is a Q tile of a head of the group.
struct BackwardItem : ItemState {
  int heads = 0;  // of the group, or of the item's part of it
  int steps = 0;  // over all of them
};

/// What a ScanTable does not say of its steps: heads, and the turns of dq = ordered.
template <int Threads>
struct StepTable {
  int heads[2 * Threads];       // counted in the group
  unsigned turns[2 * Threads];  // additions to the step's Q tile that come before

  __device__ int head(int step) const { return heads[step % (2 * Threads)]; }
  __device__ unsigned turn(int step) const { return turns[step % (2 * Threads)]; }
};

template <class Shape>
struct BackwardTiles {
  alignas(tile_alignment) unsigned char k[Shape::KvTile::bytes];  // later the warps' rows of dK
  alignas(tile_alignment) unsigned char v[Shape::KvTile::bytes];  // and of dV
  alignas(tile_alignment) unsigned char q[Shape::stages][Shape::QTile::bytes];
  alignas(tile_alignment) unsigned char d_o[Shape::stages][Shape::QTile::bytes];
  alignas(tile_alignment) unsigned char scores[Shape::ScoreTile::bytes];
  alignas(chunk_bytes) float lse_log2[Shape::stages][Shape::q_rows];
  alignas(chunk_bytes) float row_sums[Shape::stages][Shape::q_rows];
};

template <class Shape>
struct BackwardStorage {
  BackwardTiles<Shape> tiles;
  ScanTable<Shape::threads> scan;
  StepTable<Shape::threads> steps;
  BackwardItem work;
  unsigned* turn;  // ordered: of the Q tile that is added to

  /// Steps [first, first + threads), each by a thread.
  __device__ void fill_tables(const BackwardArguments& arguments, int first) {
    scan.fill(arguments.schedule, work, first, work.heads);
    const int step = first + thread_number();
    if (step >= work.steps) return;
    constexpr int slots = 2 * Shape::threads;
    steps.heads[step % slots] = int(unsigned(step) / unsigned(work.context.tiles));
    if (arguments.schedule.dq == Dq::ordered)
      steps.turns[step % slots] =
          unsigned(additions_before(arguments.problem, Shape::tiling(), arguments.schedule.order,
                                    work.item.own_tile, scan.tile(step)));
  }
};

/// A warp's columns of the gradients of its keys, before the scale.
template <class Shape>
struct KeyGradients {
  float dk[Shape::key_blocks][Shape::gradient_columns / 8][4];
  float dv[Shape::key_blocks][Shape::gradient_columns / 8][4];
};

}  // namespace sawtooth::kernels
