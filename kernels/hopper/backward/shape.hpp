// Everything that is fixed when a variant of the backward kernel is compiled. The structure follows
// FlashAttention-3's backward pass (arXiv 2407.08608 and its code): S and dP transposed, a
// warpgroup for 64 keys.
#pragma once

#include <cstdint>

#include "kernels/hopper/layout.hpp"
#include "scheduler/host_device.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels::hopper {

// How the fp32 sums of dQ lie in memory for this family: of each head parts of 64 x 64, row of
// parts after row of parts, the last one of a row with the columns that are left; of a part four
// accumulators of every thread of a warpgroup, then the next four. So a thread writes 16 bytes at a
// time to shared memory without bank conflicts, and one bulk reduction adds a part of 16 KiB. Plain
// C++: tests/kernels checks it without a GPU.

inline constexpr int dq_part_columns = 64;
inline constexpr int dq_part_floats = warpgroup_rows * dq_part_columns;

/// Float of a part where accumulators 4 `chunk` and the next three of thread `thread` lie: two of a
/// row, and two of the row 8 further on.
SAWTOOTH_HD constexpr int dq_chunk_offset(int chunk, int thread) {
  return (chunk * warpgroup_threads + thread) * 4;
}

/// What a thread of the conversion turns into elements: columns 8 `column_block` ... + 7 of rows
/// `row` and `row` + 8 of a part. Neighbours have neighbouring columns.
struct DqPiece {
  int row;
  int column_block;
};
inline constexpr int dq_pieces = dq_part_floats / 16;  // of a part

SAWTOOTH_HD constexpr DqPiece dq_piece(int piece, int columns = dq_part_columns) {
  const int blocks = columns / 8;
  const int row = piece / blocks;
  return {row / row_half_distance * warp_rows + row % row_half_distance, piece % blocks};
}
/// Float of a part where the 16 floats of a piece begin: of each of four lanes two of `row` and two
/// of the row 8 further on.
SAWTOOTH_HD constexpr int dq_piece_offset(DqPiece piece) {
  constexpr int warp_threads = 32;
  const int warp = piece.row / warp_rows;
  return dq_chunk_offset(piece.column_block,
                         warp * warp_threads + piece.row % row_half_distance * 4);
}

template <class ElementType, int HeadDim, int QRows, int KvRows, int Stages, int PartRows,
          bool Ordered>
struct BackwardShape {
  using Element = ElementType;
  static constexpr int head_dim = HeadDim;
  static constexpr int q_rows = QRows;
  static constexpr int kv_rows = KvRows;
  static constexpr int consumers = KvRows / warpgroup_rows;  // warpgroups of 64 keys each
  static constexpr int stages = Stages;                      // of Q, and of dO
  static constexpr int notes = 2 * Stages;
  static constexpr bool ordered = Ordered;  // adds to dQ in turn
  // A warpgroup has the scores of such a part of a Q tile in registers at a time; while it works on
  // one part the tensor cores have the products of the other.
  static constexpr int part_rows = PartRows;
  static constexpr int parts = QRows / PartRows;
  static_assert(parts * PartRows == QRows && parts <= 2);
  SAWTOOTH_HD static constexpr Tiling tiling() { return {q_rows, kv_rows}; }

  static constexpr int threads = (consumers + 1) * warpgroup_threads;
  static constexpr int consumer_warps = consumers * 4;
  static constexpr int warpgroup_warps = 4;
  // setmaxnreg moves registers between warpgroups inside what the CTA was launched with; asking
  // for more waits for ever.
  static constexpr int launch_registers = 65536 / threads / 8 * 8;
  static constexpr int producer_registers = 40;
  static constexpr int consumer_registers = consumers == 3 ? 160 : 232;
  static_assert(producer_registers + consumers * consumer_registers <=
                (consumers + 1) * launch_registers);

  // As in kernels/hopper/shape.hpp.
  static constexpr int panels = (HeadDim + panel_columns - 1) / panel_columns;
  static constexpr bool padded = HeadDim % panel_columns != 0;
  static constexpr int q_tile_elements = QRows * panels * panel_columns;
  static constexpr int kv_tile_elements = KvRows * panels * panel_columns;
  static constexpr int score_elements = QRows * KvRows;
  static constexpr uint32_t q_tile_bytes = q_tile_elements * sizeof(Element);
  static constexpr uint32_t kv_tile_bytes = kv_tile_elements * sizeof(Element);
  static constexpr uint32_t row_number_bytes = QRows * sizeof(float);

  // A warpgroup computes 64 x 64 of dQ: its rows where the Q tile has two blocks of 64, else its
  // columns.
  static constexpr bool splits_dq_rows = QRows == consumers * warpgroup_rows;
  static constexpr int dq_columns = dq_part_columns;
  static_assert(splits_dq_rows ? HeadDim == dq_columns
                               : QRows == warpgroup_rows && panels == consumers);
  /// Floats of `part` of a row of parts.
  SAWTOOTH_HD static constexpr int dq_floats(int part) {
    if (!padded) return dq_part_floats;
    const int columns = HeadDim - part * dq_columns;
    return warpgroup_rows * (columns < dq_columns ? columns : dq_columns);
  }
  static_assert(HeadDim % wgmma_k == 0 && KvRows % warpgroup_rows == 0);
};

// Where a warpgroup's dS^T, in accumulators, goes in shared memory as dS: panels of 64 keys, a row
// a query, in the swizzle of wgmma's operands. Plain C++: tests/kernels checks it without a GPU.

/// Byte in a panel of 64 keys where this thread's address of the first 16 queries lies; further 16
/// queries are matrix_store_step on. Matrices 0 and 1 are keys 0 to 7 and 8 to 15 of the warp for
/// the first 8 queries, 2 and 3 the same for the next 8: registers 4 u ... 4 u + 3 of pairwise
/// rounded accumulators.
SAWTOOTH_HD constexpr uint32_t matrix_store_offset(int thread_in_warpgroup) {
  const int lane = thread_in_warpgroup % 32;
  const int query = lane / 16 * 8 + lane % 8;
  const int chunk = thread_in_warpgroup / 32 * 2 + lane / 8 % 2;
  return uint32_t(query * swizzle_row_bytes + (chunk ^ query % swizzle_group_rows) * 16);
}
inline constexpr uint32_t matrix_store_step = 16 * swizzle_row_bytes;

}  // namespace sawtooth::kernels::hopper
