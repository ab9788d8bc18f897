// How the fp32 sums of dQ lie in memory for this family: of each head parts of 64 x 64, row of
// parts after row of parts; of a part four accumulators of every thread of a warpgroup, then the
// next four. So a thread writes 16 bytes at a time to shared memory without bank conflicts, and one
// bulk reduction adds a part of 16 KiB. Plain C++: tests/kernels checks it without a GPU.
#pragma once

#include <cstdint>

#include "kernels/hopper/fragment.hpp"
#include "scheduler/host_device.hpp"

namespace sawtooth::kernels::hopper {

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

SAWTOOTH_HD constexpr DqPiece dq_piece(int piece) {
  constexpr int blocks = dq_part_columns / 8;
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

}  // namespace sawtooth::kernels::hopper
