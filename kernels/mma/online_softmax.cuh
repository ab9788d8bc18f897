// A warp's accumulators: for each block of 16 rows fragments of 8 columns, four numbers a lane.
#pragma once

#include <cuda_runtime.h>

#include "kernels/mma/ptx.cuh"

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

// The online softmax of one warp's rows (Milakov and Gimelshein, arXiv 1805.02867; as in
// FlashAttention-2, arXiv 2307.08691, section 3.1), on scores in mma's accumulator layout.
//
// A lane holds, of each 16-row block, rows lane / 4 and lane / 4 + 8. The maximum that the
// exponentials refer to is replaced only when a row's maximum has grown by more than
// `lazy_growth` (in powers of two): until then the sums stay in range and the output needs no
// rescaling (the idea of FlashAttention-4's lazy rescale).

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

/// A row's results besides O; a row that saw no key has inverse_sum 0 and lse -inf. NaN stays NaN.
struct RowSummary {
  float inverse_sum;
  float lse;  // natural logarithm of the sum of the scaled scores' exponentials
};

__device__ inline RowSummary summarise_row(float maximum, float lane_sum, float scale_log2) {
  constexpr float natural_log_of_2 = 0.69314718055994531f;
  const float sum = sum_of_quad(lane_sum);
  if (sum == 0.0f) return {0.0f, minus_infinity};
  return {1.0f / sum, (maximum * scale_log2 + log2f(sum)) * natural_log_of_2};
}

}  // namespace sawtooth::kernels
