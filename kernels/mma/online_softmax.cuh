// The online softmax of one warp's rows (Milakov and Gimelshein, arXiv 1805.02867; as in
// FlashAttention-2, arXiv 2307.08691, section 3.1), on scores in mma's accumulator layout.
//
// A lane holds, of each 16-row block, rows lane / 4 and lane / 4 + 8. The maximum that the
// exponentials refer to is replaced only when a row's maximum has grown by more than
// `lazy_growth` (in powers of two): until then the sums stay in range and the output needs no
// rescaling (the idea of FlashAttention-4's lazy rescale).
#pragma once

#include <cuda_runtime.h>

#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels {

inline constexpr float lazy_growth = 8.0f;  // probabilities stay below 2^8: exact in bf16 and fp16
inline constexpr unsigned whole_warp = 0xffffffffu;
inline constexpr float minus_infinity = -__builtin_huge_valf();

/// Maximum, or sum, over the four lanes that share a row.
__device__ inline float maximum_of_quad(float value) {
  value = fmaxf(value, __shfl_xor_sync(whole_warp, value, 1));
  return fmaxf(value, __shfl_xor_sync(whole_warp, value, 2));
}
__device__ inline float sum_of_quad(float value) {
  value += __shfl_xor_sync(whole_warp, value, 1);
  return value + __shfl_xor_sync(whole_warp, value, 2);
}

template <int RowBlocks>
struct SoftmaxState {
  float maximum[RowBlocks][2];  // unscaled score that the exponentials refer to
  float sum[RowBlocks][2];      // of this lane's columns only, until the end

  __device__ void reset() {
#pragma unroll
    for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        maximum[block][half] = minus_infinity;
        sum[block][half] = 0;
      }
  }

  /// Looks at a block of scores and, where some maximum has grown too far, moves the reference
  /// of all rows, rescaling `output` and the sums.
  template <int ScoreBlocks, int OutputBlocks>
  __device__ void raise_maximum(const float (&scores)[RowBlocks][ScoreBlocks][4],
                                float (&output)[RowBlocks][OutputBlocks][4], float scale_log2) {
    float seen[RowBlocks][2];
    bool grown = false;
#pragma unroll
    for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float largest = fmaxf(scores[block][0][2 * half], scores[block][0][2 * half + 1]);
#pragma unroll
        for (int n = 1; n < ScoreBlocks; ++n)
          largest =
              fmaxf(largest, fmaxf(scores[block][n][2 * half], scores[block][n][2 * half + 1]));
        seen[block][half] = maximum_of_quad(largest);
        // False while both are -inf (NaN): such a row has seen no key yet.
        grown |= (seen[block][half] - maximum[block][half]) * scale_log2 > lazy_growth;
      }
    if (!__any_sync(whole_warp, grown)) return;
#pragma unroll
    for (int block = 0; block < RowBlocks; ++block)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float before = maximum[block][half];
        const float after = fmaxf(before, seen[block][half]);
        const float factor =
            after == minus_infinity ? 1.0f : exp2_approximate((before - after) * scale_log2);
        maximum[block][half] = after;
        sum[block][half] *= factor;
#pragma unroll
        for (int n = 0; n < OutputBlocks; ++n) {
          output[block][n][2 * half] *= factor;
          output[block][n][2 * half + 1] *= factor;
        }
      }
  }

  /// What to subtract from scaled scores before exp2; 0 for a row that has seen nothing.
  __device__ float reference(int block, int half, float scale_log2) const {
    return maximum[block][half] == minus_infinity ? 0.0f : maximum[block][half] * scale_log2;
  }
};

}  // namespace sawtooth::kernels
