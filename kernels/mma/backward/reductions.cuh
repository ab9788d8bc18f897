// Additions in L2 of what accumulators hold.
#pragma once

#include <cuda_runtime.h>

#include "kernels/mma/backward/dq_sums.hpp"
#include "kernels/mma/online_softmax.cuh"

namespace sawtooth::kernels {

/// By a warp: adds an accumulator's 8 rows of 8 columns, of which lane l has row l / 4 and columns
/// 2 (l % 4) and the next, to the block that begins at `to`, the first `rows` of its rows. Every
/// instruction covers whole sectors, so that L2 counts each sector once.
__device__ inline void add_row_pairs(float* to, float low, float high, int rows) {
  const int lane = thread_number() % 32;
#if __CUDA_ARCH__ >= 900
  if (lane / 4 < rows) reduce_add(to + lane * 2, low, high);
#else
  // One float a lane: rows 0 to 3 with all columns, then rows 4 to 7. Lane l < 16 has even columns
  // of both, lane l + 16 the odd ones.
  const bool upper = lane >= 16;
  const float given = __shfl_xor_sync(whole_warp, upper ? low : high, 16);
  constexpr int row_floats = 8;
  const int row = lane % 16 / 4;
  float* at = to + row * row_floats + lane % 4 * 2 + (upper ? 1 : 0);
  if (row < rows) reduce_add(at, upper ? given : low);
  if (row + 4 < rows) reduce_add(at + 4 * row_floats, upper ? high : given);
#endif
}

/// By a warp, of fp32's accumulators: adds 8 rows of four chunks of 16 bytes, of which lane l has
/// row l / 4 and chunk l % 4 ^ `swapped_by`, to the block that begins at `to`.
__device__ inline void add_row_chunks(float* to, const float (&values)[4], int swapped_by,
                                      int rows) {
  constexpr int row_floats = dq_block_columns<float>;
  const int lane = thread_number() % 32;
#if __CUDA_ARCH__ >= 900
  if (lane / 4 < rows) reduce_add(to + lane / 4 * row_floats + (lane % 4 ^ swapped_by) * 4, values);
#else
  // One float a lane: half a warp has the 16 of a row.
  const int column = lane % 16;
#pragma unroll
  for (int first = 0; first < 8; first += 2) {
    const int row = first + lane / 16;
    const int owner = row * 4 + (column / 4 ^ swapped_by);
    float mine = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float given = __shfl_sync(whole_warp, values[i], owner);
      if (column % 4 == i) mine = given;
    }
    if (row < rows) reduce_add(to + row * row_floats + column, mine);
  }
#endif
}

}  // namespace sawtooth::kernels
