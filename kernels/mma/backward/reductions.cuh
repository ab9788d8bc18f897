// Additions in L2 of what accumulators hold.
#pragma once

#include <cuda_runtime.h>

#include "kernels/mma/online_softmax.cuh"

namespace sawtooth::kernels {

/// By a warp: adds an accumulator's 8 rows of 8 columns, of which lane l has row l / 4 and columns
/// 2 (l % 4) and the next, to rows `RowFloats` apart, the first `rows` of them. Every instruction
/// covers whole sectors, so that L2 counts each sector once.
template <int RowFloats>
__device__ inline void add_row_pairs(float* to, float low, float high, int rows) {
  const int lane = thread_number() % 32;
#if __CUDA_ARCH__ >= 900
  if (lane / 4 < rows) reduce_add(to + lane / 4 * RowFloats + lane % 4 * 2, low, high);
#else
  // One float a lane: rows 0 to 3 with all columns, then rows 4 to 7. Lane l < 16 has even columns
  // of both, lane l + 16 the odd ones.
  const bool upper = lane >= 16;
  const float given = __shfl_xor_sync(whole_warp, upper ? low : high, 16);
  const int row = lane % 16 / 4;
  float* at = to + row * RowFloats + lane % 4 * 2 + (upper ? 1 : 0);
  if (row < rows) reduce_add(at, upper ? given : low);
  if (row + 4 < rows) reduce_add(at + 4 * RowFloats, upper ? high : given);
#endif
}

}  // namespace sawtooth::kernels
