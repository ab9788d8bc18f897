// A warp's rows of a result, from accumulators to global memory in the element type: through its
// own rows of a tile in shared memory, so that stores are 16 bytes a lane and whole sectors.
#pragma once

#include <cstdint>
#include <type_traits>

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

// Rows of a result of fp32 straight from accumulators, where a lane has 16 bytes in a row and a
// quad whole sectors (shared_tile.hpp).

/// `half` of a row block's fragments, times `factor`, to `row`. `Tile` is a FloatTile of the head
/// dim.
template <class Tile, int Fragments>
__device__ inline void write_float_row(const float (&fragments)[Fragments][4], int half,
                                       float factor, float* row) {
#pragma unroll
  for (int panel = 0; panel < Tile::panels; ++panel)
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const int chunk = Tile::output_chunk(2 * (thread_number() % 4) + column);
      const auto value = [&](int f) {
        return fragments[Tile::chunk_floats * panel + f][2 * half + column] * factor;
      };
      *reinterpret_cast<float4*>(row + panel * Tile::panel_floats + chunk * Tile::chunk_floats) =
          make_float4(value(0), value(1), value(2), value(3));
    }
}

/// The same of fp32.
template <class Tile, class Element, int ColumnGroups = 1, int RowBlocks, int Fragments,
          class Factor>
requires(std::is_same_v<Element, float>) __device__
    inline void store_warp_rows(const float (&values)[RowBlocks][Fragments][4], Factor factor,
                                unsigned char*, void* tensor, const Strides& strides, int64_t batch,
                                int64_t head, int64_t first_row, int64_t rows,
                                unsigned thread = threadIdx.x) {
  static_assert(ColumnGroups == 1);
  const int64_t lane_row = first_row + int(thread) / 32 * (RowBlocks * 16) + int(thread) % 32 / 4;
#pragma unroll
  for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = lane_row + block * 16 + half * 8;
      if (row < rows)
        write_float_row<Tile>(values[block], half, factor(block, half),
                              static_cast<float*>(tensor) + strides.offset(batch, head, row));
    }
}

}  // namespace sawtooth::kernels
