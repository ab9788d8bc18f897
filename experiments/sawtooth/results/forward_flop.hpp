// FLOP of an attention forward: four a visible pair of rows and element of head dim. Under causal
// the last key that a row sees counts half, so that S queries and S keys are S^2 / 2 pairs, the
// convention of the FlashAttention papers.
#pragma once

#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

inline double forward_flop(const Problem& problem) {
  double pairs = visible_pairs(problem.mask, problem.seq_q, problem.seq_kv);
  if (problem.mask.kind == MaskKind::causal)
    pairs -= double(min_of(problem.seq_q, problem.seq_kv)) / 2;
  return 4.0 * double(problem.batch) * double(problem.heads) * double(problem.head_dim) * pairs;
}

}  // namespace sawtooth::experiments
