// A warp's accumulators: for each block of 16 rows fragments of 8 columns, four numbers a lane.
#pragma once

namespace sawtooth::kernels {

template <int RowBlocks, int Fragments>
__device__ inline void clear(float (&matrix)[RowBlocks][Fragments][4]) {
#pragma unroll
  for (auto& block : matrix)
#pragma unroll
    for (auto& fragment : block)
#pragma unroll
      for (float& value : fragment) value = 0;
}

/// Fragments of `c` from `first` on += part, by additions that round to the nearest.
template <int RowBlocks, int Fragments, int PartFragments>
__device__ inline void add_fragments(float (&c)[RowBlocks][Fragments][4], int first,
                                     const float (&part)[RowBlocks][PartFragments][4]) {
#pragma unroll
  for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
    for (int n = 0; n < PartFragments; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) c[block][first + n][i] += part[block][n][i];
}

}  // namespace sawtooth::kernels
