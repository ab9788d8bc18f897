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

/// Of two log-sum-exps; -inf has seen no key, and then its result is left out. NaN stays NaN.
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

/// Two neighbours of O: `own`, which is not normalised, times `factor`, and what was there where
/// some key was seen. Leaves the sum there and returns it.
__device__ inline float2 add_to_running(float* o, float2 own, float factor, float of_earlier) {
  float2 sum = make_float2(own.x * factor, own.y * factor);
  if (of_earlier != 0) {
    const float2 earlier = __ldcg(reinterpret_cast<const float2*>(o));
    sum.x += earlier.x * of_earlier;
    sum.y += earlier.y * of_earlier;
  }
  *reinterpret_cast<float2*>(o) = sum;
  return sum;
}

}  // namespace sawtooth::kernels
