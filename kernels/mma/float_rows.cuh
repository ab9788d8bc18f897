// Rows of a result of fp32 straight from accumulators, where a lane has 16 bytes in a row and a
// quad whole sectors (float_tile.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/strides.hpp"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels {

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

/// What row_store.cuh has for other types.
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
