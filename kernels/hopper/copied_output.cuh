// O on a shorter way: rounded and laid out in shared memory by stmatrix, then written by the copy
// engine while the next item runs. Stores from registers (epilogue.cuh) take a warpgroup some 1,500
// clocks of the 14,500 of an item of four tiles, this way takes 1,100 where a warpgroup copies as
// one (item_clocks.csv in experiments/data/h200/race).
//
// PTX ISA: "stmatrix", "cp.async.bulk.tensor", "cp.async.bulk.wait_group".
#pragma once

#include <cstdint>

#include <cuda.h>

#include "kernels/hopper/barrier.cuh"
#include "kernels/hopper/descriptor.hpp"
#include "kernels/hopper/fragment.hpp"
#include "kernels/hopper/softmax.cuh"
#include "kernels/mma/ptx.cuh"
#include "kernels/tma/barrier.cuh"

namespace sawtooth::kernels::hopper {

/// Rows of a box: a warp copies its own, so that no warp waits for another, and one that has merged
/// the pieces of an item may copy alone.
inline constexpr int copied_rows = warpgroup_rows / 4;

/// Results that leave by the copy engine: O's map, with boxes of a warp's rows, and where its tile
/// lies in shared memory: of each warp the panels of its rows.
struct CopiedResults {
  const CUtensorMap& o;
  uint32_t tile;
};

/// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void store_matrices(uint32_t to, const uint32_t (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
               : "memory");
}

/// By one thread: the copies that it started have read shared memory.
__device__ inline void wait_until_copies_have_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// By all: those of this thread, if it started any, are done.
__device__ inline void finish_copies() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Starts the copy of a box from shared memory; rows past the end of the tensor are not written.
__device__ inline void store_tile(const CUtensorMap& map, uint32_t from, int32_t row, int32_t head,
                                  int32_t batch) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %2, %4, %5}], [%1];" ::
          "l"(&map),
      "r"(from), "r"(0), "r"(row), "r"(head), "r"(batch)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// By a warp, number `warp` of the consumers: its rows, times the factor of each, on their way to
/// rows from `first_row` on.
template <class Element, int Count>
__device__ inline void copy_rows_out(const CopiedResults& results, const float (&output)[Count],
                                     const float (&factor)[rows_a_thread], int warp, int first_row,
                                     int head, int batch) {
  constexpr int head_dim = Count * warpgroup_threads / warpgroup_rows;
  constexpr int panel_bytes = copied_rows * swizzle_row_bytes;
  static_assert(panel_bytes % swizzle_group_bytes == 0);
  constexpr int blocks_a_panel = panel_columns / 16;
  const int lane = threadIdx.x % 32;
  const bool leads = lane == 0;
  const uint32_t tile = results.tile + warp * (head_dim / panel_columns * panel_bytes);
  if (leads) wait_until_copies_have_read();
  __syncwarp();
  const int row = lane % 16;
  const uint32_t row_address = tile + row * swizzle_row_bytes;
  const uint32_t chunk = uint32_t(lane / 16) ^ uint32_t(row % 8);
#pragma unroll
  for (int block = 0; block < head_dim / 16; ++block) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int first = 8 * block + 2 * i;
      words[i] = TensorCore<Element>::pack(output[first] * factor[row_half(first)],
                                           output[first + 1] * factor[row_half(first)]);
    }
    const uint32_t of_block = uint32_t(block % blocks_a_panel * 2);
    store_matrices(row_address + block / blocks_a_panel * panel_bytes + (chunk ^ of_block) * 16,
                   words);
  }
  fence_before_copies();
  __syncwarp();
  if (leads) store_tile(results.o, tile, first_row, head, batch);
}

}  // namespace sawtooth::kernels::hopper
