// Copies tiles from global to shared memory with cp.async, and lines of tiles to L2.
#pragma once

#include <cstdint>

#include "kernels/mma/ptx.cuh"
#include "kernels/mma/shared_tile.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::kernels {

/// Starts the copy of a tile by all `Threads` threads; does not commit. `from` is the tile's first
/// element in global memory, rows `row_stride_bytes` apart; rows from `valid_rows` on become zero.
template <class Tile, int Threads>
__device__ inline void copy_tile(uint32_t to, const char* from, int64_t row_stride_bytes,
                                 int valid_rows, uint64_t policy) {
  constexpr int panel_chunks = Tile::rows * Tile::row_chunks;
  constexpr int passes = (panel_chunks + Threads - 1) / Threads;
  static_assert(Threads % Tile::row_chunks == 0);
  constexpr int rows_a_pass = Threads / Tile::row_chunks;
  constexpr bool whole = panel_chunks % Threads == 0;

  const int thread = thread_number();
  const int chunk = thread % Tile::row_chunks;
  const int first_row = thread / Tile::row_chunks;
  const char* source = from + first_row * row_stride_bytes + chunk * chunk_bytes;
  const auto pass_over = [&](auto copy) {
#pragma unroll
    for (int pass = 0; pass < passes; ++pass) {
      const int row = first_row + pass * rows_a_pass;
      if (whole || row < Tile::rows) {
#pragma unroll
        for (int panel = 0; panel < Tile::panels; ++panel)
          copy(to + Tile::offset(panel, row, chunk),
               source + pass * (rows_a_pass * row_stride_bytes) + panel * Tile::row_bytes, row);
      }
    }
  };
  if (valid_rows >= Tile::rows)
    pass_over([&](uint32_t at, const char* address, int) { copy_16_bytes(at, address, policy); });
  else
    pass_over([&](uint32_t at, const char* address, int row) {
      const bool valid = row < valid_rows;
      copy_16_bytes_or_zero(at, valid ? address : from, policy, valid);
    });
}

/// One warp prefetches lines [first_line, end_line) of a tile into L2: line l holds bytes
/// [128 l, 128 l + 128) of the rows laid end to end. One line a lane in the usual case.
template <class Tile>
__device__ inline void prefetch_lines(const char* tile, int64_t row_stride_bytes, int valid_rows,
                                      int first_line, int end_line) {
  constexpr unsigned row_bytes = Tile::panels * Tile::row_bytes;
  for (int line = first_line + thread_number() % 32; line < end_line; line += 32) {
    const unsigned byte = unsigned(line) * unsigned(line_bytes);
    const unsigned row = byte / row_bytes;
    if (int(row) < valid_rows) prefetch_to_l2(tile + row * row_stride_bytes + byte % row_bytes);
  }
}

}  // namespace sawtooth::kernels
