// Bounds of what a call may ask for.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

/// Under `balanced`, so that the state of all launches has one size; no GPU holds as many CTAs of
/// the kernels that merge pieces.
inline constexpr int64_t most_balanced_workers = 512;

/// Then there is nothing to do.
constexpr bool has_no_query(const Problem& problem) {
  return problem.batch == 0 || problem.heads == 0 || problem.seq_q == 0;
}

/// Whether the product of `factors`, none of them negative, is at most `limit`.
constexpr bool product_within(int64_t limit, std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (product > 0 && factor > limit / product) return false;
    product *= factor;
  }
  return true;
}

}  // namespace sawtooth::kernels
