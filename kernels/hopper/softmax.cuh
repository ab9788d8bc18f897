// The online softmax on wgmma accumulators, in powers of two: exp(scale (s - max)) is
// exp2(c s - c max) with c = scale log2(e), one multiply-add and one ex2 an element
// (Milakov and Gimelshein, arXiv 1805.02867; FlashAttention-2, arXiv 2307.08691, section 3.1).
#pragma once

#include <cstdint>

#include "kernels/hopper/layout.hpp"
#include "kernels/mma/online_softmax.cuh"
#include "kernels/mma/ptx.cuh"

namespace sawtooth::kernels::hopper {

struct RowSoftmax {
  float max[rows_a_thread] = {-INFINITY, -INFINITY};
  float sum[rows_a_thread] = {0, 0};    // of this lane's columns only
  float shift[rows_a_thread] = {0, 0};  // of exponents, by the maximum
  float top[rows_a_thread];             // the greatest score so far
  float rescale[rows_a_thread];         // what the last raise did to the older terms

  /// The greatest of a row's maximum and these scores, known to all lanes that share the row.
  template <int Count>
  __device__ void find_top(const float (&scores)[Count]) {
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) top[half] = max[half];
#pragma unroll
    for (int i = 0; i < Count; ++i) top[row_half(i)] = fmaxf(top[row_half(i)], scores[i]);
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) top[half] = maximum_of_quad(top[half]);
  }

  /// Whether the maximum of some row of the warp has to become `top`.
  /// `Lazy`: it stays while the true one is at most 2^8 times as large in probability, so that
  /// older terms mostly need no rescaling; float and bf16 have the range, fp16 holds 2^8 too.
  template <bool Lazy>
  __device__ bool rises(float scale_log2) const {
    return !Lazy ||
           __any_sync(0xffffffff, !stays<Lazy>(0, scale_log2) || !stays<Lazy>(1, scale_log2));
  }

  /// `Masked`: a row may have seen nothing so far, its maximum is then -inf.
  template <bool Masked, bool Lazy>
  __device__ void raise(float scale_log2) {
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      if (stays<Lazy>(half, scale_log2)) top[half] = max[half];
      const float safe = Masked && top[half] == -INFINITY ? 0.0f : top[half];
      shift[half] = safe * scale_log2;
      rescale[half] = exp2_approximate(max[half] * scale_log2 - shift[half]);
      max[half] = top[half];
      sum[half] *= rescale[half];
    }
  }

  /// Replaces scores by their probabilities relative to the maximum.
  template <int Count>
  __device__ void exponentiate(float (&scores)[Count], float scale_log2) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      scores[i] = exp2_approximate(fmaf(scores[i], scale_log2, -shift[row_half(i)]));
      sum[row_half(i)] += scores[i];
    }
  }

  /// Brings sums of older terms to the raised maximum.
  template <int Count>
  __device__ void rescale_older(float (&output)[Count]) const {
#pragma unroll
    for (int i = 0; i < Count; ++i) output[i] *= rescale[row_half(i)];
  }
  /// The same, where lanes do not know yet whether a maximum of the warp was raised.
  template <bool Lazy, int Count>
  __device__ void rescale_older_if_raised(float (&output)[Count]) const {
    if (Lazy && !__any_sync(0xffffffff, rescale[0] != 1 || rescale[1] != 1)) return;
    rescale_older(output);
  }

 private:
  template <bool Lazy>
  __device__ bool stays(int half, float scale_log2) const {
    constexpr float tolerated_growth_log2 = 8;
    return Lazy && (top[half] - max[half]) * scale_log2 <= tolerated_growth_log2;
  }
};

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

/// Sets scores outside [first_key, end_key) of each row to -inf; both not negative, relative to the
/// tile's first key plus this lane's column offset. `AsBits`: one bit an accumulator, whose test is
/// one instruction where two comparisons are two.
template <bool AsBits, int Count>
__device__ inline void mask_scores(float (&scores)[Count], const int (&first_key)[rows_a_thread],
                                   const int (&end_key)[rows_a_thread]) {
  if constexpr (AsBits) {
    uint64_t visible[rows_a_thread];
#pragma unroll
    for (int half = 0; half < rows_a_thread; ++half) {
      visible[half] = accumulators_between(first_key[half], end_key[half]);
    }
    keep_scores(scores, visible);
  } else {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      const int column = quad_column(i);
      const bool visible = column >= first_key[row_half(i)] && column < end_key[row_half(i)];
      scores[i] = visible ? scores[i] : -INFINITY;
    }
  }
}

}  // namespace sawtooth::kernels::hopper
