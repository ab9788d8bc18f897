// A warpgroup's rows of Q as A fragments in registers (layout.hpp). The product of scores then
// reads K alone from shared memory, and the tile of Q is free for the next item's rows at once.
#pragma once

#include <cstdint>

#include "kernels/hopper/layout.hpp"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::hopper {

/// By a warpgroup: its 64 rows, of 16-deep slices `q`, from the shared address of their first panel
/// on; panels follow each other at `panel_bytes`.
template <int Slices>
__device__ inline void load_q_fragments(uint32_t (&q)[Slices][4], uint32_t rows, int panel_bytes) {
  constexpr int slices_a_panel = panel_columns / wgmma_k;
  constexpr int chunk_bytes = 16;
  const int lane = threadIdx.x % 32;
  const int row = int(threadIdx.x % warpgroup_threads) / 32 * warp_rows + lane % warp_rows;
  const int half = lane / warp_rows;  // of a slice
  const uint32_t row_address = rows + row * swizzle_row_bytes;
#pragma unroll
  for (int slice = 0; slice < Slices; ++slice) {
    const int chunk = (slice % slices_a_panel * 2 + half) ^ (row % swizzle_group_rows);
    load_matrices(q[slice],
                  row_address + slice / slices_a_panel * panel_bytes + chunk * chunk_bytes);
  }
}

}  // namespace sawtooth::kernels::hopper
