// Whether ring attention and one GPU have the same results, up to rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::experiments {

/// Bits of a bf16 or fp16 number as a float.
float value_of_bits(uint16_t bits, ElementType dtype);

/// Most that relative_difference() may be: values are each rounded twice and summed in float in
/// another order.
double allowed_difference(ElementType dtype);
inline constexpr double allowed_lse_difference = 2e-3;

/// A tensor of one GPU, [heads of all batches, rows, dim], beside the rows that each rank has of
/// it: the root of the mean square of the difference, over that of the whole.
double relative_difference(const Ring& ring, int64_t heads, int64_t head_dim, ElementType dtype,
                           const std::vector<uint16_t>& whole,
                           const std::vector<std::vector<uint16_t>>& of_ranks);

/// The largest difference of log-sum-exps, [heads of all batches, rows]; NaN where one is.
double largest_difference(const Ring& ring, int64_t heads, const std::vector<float>& whole,
                          const std::vector<std::vector<float>>& of_ranks);

}  // namespace sawtooth::experiments
