// FLOP of an attention forward: four a visible pair of rows and element of head dim, the
// convention of the FlashAttention papers; causal counts as half of all pairs.
#pragma once

#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

inline double forward_flop(const Problem& problem) {
  const double heads = double(problem.batch) * double(problem.heads);
  const double flop_a_pair = 4.0 * double(problem.head_dim);
  if (problem.mask.kind == MaskKind::window) {
    double pairs = 0;
    for (int64_t row = 0; row < problem.seq_q; ++row)
      pairs +=
          double(visible_keys(problem.mask, {row, row + 1}, problem.seq_q, problem.seq_kv).size());
    return heads * flop_a_pair * pairs;
  }
  const double all = heads * flop_a_pair * double(problem.seq_q) * double(problem.seq_kv);
  return problem.mask.kind == MaskKind::causal ? all / 2 : all;
}

}  // namespace sawtooth::experiments
