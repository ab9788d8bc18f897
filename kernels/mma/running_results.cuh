// A row's result over some keys, made one over those of earlier calls too: both are normalised by
// their own sums, and their log-sum-exps are their weights, in float (Flash-Decoding, Dao et al.
// 2023; Ring Attention, arXiv 2310.01889).
#pragma once

#include <cstdint>

#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels {

/// Factors of the two normalised results, which add up to 1, and the log-sum-exp of both.
struct MergedRow {
  float of_earlier;
  float of_own;
  float lse;
};

/// A log-sum-exp of -inf has seen no key, and then its result is left out. NaN stays NaN.
__device__ inline MergedRow merged_row(float earlier, float own) {
  if (earlier == -INFINITY) return {0, 1, own};
  if (own == -INFINITY) return {1, 0, earlier};
  const float top = fmaxf(earlier, own);
  const float of_earlier = expf(earlier - top);
  const float of_own = expf(own - top);
  const float sum = of_earlier + of_own;
  return {of_earlier / sum, of_own / sum, top + logf(sum)};
}

/// Where the log-sum-exp of a row lies.
__device__ inline float* running_lse(const RunningResults& running, int64_t heads, int64_t batch,
                                     int64_t head, int64_t row) {
  return running.lse + (batch * heads + head) * running.lse_head_rows + row;
}

/// What the calls before have left there; other lanes may write it once the warp has met.
__device__ inline float earlier_lse(const RunningResults& running, const float* lse, bool valid) {
  return valid && !running.begins ? __ldcg(lse) : -INFINITY;
}

/// Two neighbours of O that calls before have left at `o`; 0 where they saw no key.
__device__ inline float2 earlier_pair(const float* o, float of_earlier) {
  return of_earlier == 0 ? make_float2(0, 0) : __ldcg(reinterpret_cast<const float2*>(o));
}

/// Leaves at `o` the sum of `own`, which is not normalised, times `factor` and of `earlier`; and
/// returns it.
__device__ inline float2 store_sum(float* o, float2 own, float factor, float2 earlier,
                                   float of_earlier) {
  const float2 sum =
      make_float2(own.x * factor + earlier.x * of_earlier, own.y * factor + earlier.y * of_earlier);
  *reinterpret_cast<float2*>(o) = sum;
  return sum;
}

}  // namespace sawtooth::kernels
