// The online softmax on wgmma accumulators, in powers of two: exp(scale (s - max)) is
// exp2(c s - c max) with c = scale log2(e), one multiply-add and one ex2 an element
// (Milakov and Gimelshein, arXiv 1805.02867; FlashAttention-2, arXiv 2307.08691, section 3.1).
#pragma once

#include <climits>
#include <cstdint>
#include <type_traits>

#include "kernels/hopper/layout.hpp"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::hopper {

/// Rows of scores become probabilities relative to a reference of their row, which is lazy: it
/// follows the greatest score only once that is 2^8 times as large in probability, so that older
/// terms mostly need no rescaling; float and bf16 have the range, fp16 holds 2^8 too.
struct RowSoftmax {
  float max[rows_a_thread] = {-INFINITY, -INFINITY};  // the reference
  float sum[rows_a_thread] = {0, 0};                  // of this lane's columns only
  float shift[rows_a_thread] = {0, 0};                // of exponents, by the reference
  int limit[rows_a_thread] = {INT_MIN, INT_MIN};      // scores up to it leave the reference; bits

  /// Whether the reference of some row of the warp has to rise. Bits of floats are ordered as
  /// integers where the greatest is not negative, and of integers one instruction compares three.
  template <int Count>
  __device__ bool rises(const float (&scores)[Count]) const {
    int top[rows_a_thread] = {INT_MIN, INT_MIN};
#pragma unroll
    for (int i = 0; i < Count; i += 2) {
      int& of_row = top[row_half(i)];
      of_row = __vimax3_s32(of_row, __float_as_int(scores[i]), __float_as_int(scores[i + 1]));
    }
    return __any_sync(0xffffffff, top[0] >= limit[0] || top[1] >= limit[1]);
  }

  /// Takes the greatest scores as references; `rescale` is what that does to older terms. A row may
  /// have seen nothing so far. Where the greatest is little below 0, and probabilities relative to
  /// 0 are in range, the reference is 0: below it each step would have to look for itself.
  template <class Element, int Count>
  __device__ void raise(const float (&scores)[Count], float scale_log2,
                        float (&rescale)[rows_a_thread]) {
    constexpr float tolerated_growth_log2 = 8;
    constexpr float tolerated_fall_log2 = std::is_same_v<Element, __half> ? 8 : 64;
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      float top = max[half];
#pragma unroll
      for (int i = 0; i < Count; ++i)
        if (row_half(i) == half) top = fmaxf(top, scores[i]);
      top = maximum_of_quad(top);
      if (top < 0 && top * scale_log2 >= -tolerated_fall_log2) top = 0;
      shift[half] = top == -INFINITY ? 0 : top * scale_log2;
      rescale[half] = exp2_approximate(max[half] * scale_log2 - shift[half]);
      sum[half] *= rescale[half];
      max[half] = top;
      limit[half] = top < 0 ? INT_MIN : __float_as_int(top + tolerated_growth_log2 / scale_log2);
    }
  }

  /// Replaces scores by their probabilities relative to the reference.
  template <int Count>
  __device__ void exponentiate(float (&scores)[Count], float scale_log2) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      scores[i] = exp2_approximate(fmaf(scores[i], scale_log2, -shift[row_half(i)]));
      sum[row_half(i)] += scores[i];
    }
  }
};

/// Brings sums of older terms to the raised reference.
template <int Count>
__device__ inline void rescale_older(float (&output)[Count],
                                     const float (&rescale)[rows_a_thread]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) output[i] *= rescale[row_half(i)];
}

/// Natural logarithm of the sum of a row's exponentials; -inf where the row saw no key.
__device__ inline float log_sum_exp(float max, float sum, float scale_log2) {
  constexpr float natural_log_of_2 = 0.693147180559945f;
  return sum == 0 ? -INFINITY : (max * scale_log2 + log2f(sum)) * natural_log_of_2;
}

/// Probabilities as the A fragments of the product with V.
template <class Element, int Count>
__device__ inline void pack_probabilities(uint32_t (&packed)[Count / 2],
                                          const float (&probabilities)[Count]) {
#pragma unroll
  for (int i = 0; i < Count / 2; ++i) {
    packed[i] = TensorCore<Element>::pack(probabilities[2 * i], probabilities[2 * i + 1]);
  }
}

/// Sets scores to -inf whose bit of their row, one a place, is not set.
template <int Count>
__device__ inline void keep_scores(float (&scores)[Count],
                                   const uint64_t (&visible)[rows_a_thread]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    if (!(visible[row_half(i)] >> place_in_row(i) & 1)) scores[i] = -INFINITY;
  }
}

/// Sets scores outside [first_key, end_key) of each row to -inf; both relative to the tile's first
/// key plus this lane's column offset.
template <int Count>
__device__ inline void mask_scores(float (&scores)[Count], const int (&first_key)[rows_a_thread],
                                   const int (&end_key)[rows_a_thread]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const int column = quad_column(i);
    const bool visible = column >= first_key[row_half(i)] && column < end_key[row_half(i)];
    scores[i] = visible ? scores[i] : -INFINITY;
  }
}

}  // namespace sawtooth::kernels::hopper
