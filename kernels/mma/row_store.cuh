// A warp's rows of a result, from accumulators to global memory in the element type: through its
// own rows of a tile in shared memory, so that stores are 16 bytes a lane and whole sectors.
#pragma once

#include <cstdint>

#include "kernels/common/strides.hpp"
#include "kernels/mma/ptx.cuh"
#include "kernels/mma/shared_tile.hpp"

namespace sawtooth::kernels {

/// Row `block` x 16 + `half` x 8 + lane / 4 of the warp is multiplied by factor(block, half).
/// `shared` is a tile that no other warp reads in this warp's rows and columns, and `first_row` the
/// row of the tensor (of `rows` rows) where the tile begins. Of `ColumnGroups` neighbouring warps,
/// which share rows, each has as many columns. `thread` is threadIdx.x.
template <class Tile, class Element, int ColumnGroups = 1, int RowBlocks, int Fragments,
          class Factor>
__device__ inline void store_warp_rows(const float (&values)[RowBlocks][Fragments][4],
                                       Factor factor, unsigned char* shared, void* tensor,
                                       const Strides& strides, int64_t batch, int64_t head,
                                       int64_t first_row, int64_t rows,
                                       unsigned thread = threadIdx.x) {
  using Core = TensorCore<Element>;
  constexpr int warp_rows = RowBlocks * 16;
  const int warp_row = int(thread) / (32 * ColumnGroups) * warp_rows;
  const int first_chunk = int(thread) / 32 % ColumnGroups * Fragments;
  const int lane = thread % 32;
#pragma unroll
  for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp_row + block * 16 + half * 8 + lane / 4;
      const float by = factor(block, half);
#pragma unroll
      for (int n = 0; n < Fragments; ++n) {
        const int chunk = first_chunk + n;
        const int at = Tile::offset(chunk / Tile::row_chunks, row, chunk % Tile::row_chunks);
        *reinterpret_cast<uint32_t*>(shared + at + lane % 4 * 4) =
            Core::pack(values[block][n][2 * half] * by, values[block][n][2 * half + 1] * by);
      }
    }
  __syncwarp();
  char* to = static_cast<char*>(tensor);
#pragma unroll
  for (int pass = 0; pass < warp_rows * Fragments / 32; ++pass) {
    const int index = pass * 32 + lane;
    const int row = warp_row + index / Fragments;
    const int chunk = first_chunk + index % Fragments;
    if (first_row + row >= rows) continue;
    const int at = Tile::offset(chunk / Tile::row_chunks, row, chunk % Tile::row_chunks);
    const int64_t element = strides.offset(batch, head, first_row + row) + chunk * chunk_elements;
    *reinterpret_cast<uint4*>(to + element * 2) = *reinterpret_cast<const uint4*>(shared + at);
  }
}

}  // namespace sawtooth::kernels
