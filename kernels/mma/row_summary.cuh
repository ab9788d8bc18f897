// What the end of an item knows of a row besides O.
#pragma once

#include "kernels/mma/online_softmax.cuh"

namespace sawtooth::kernels {

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
