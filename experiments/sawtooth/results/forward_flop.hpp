// FLOP of an attention forward: four a visible pair of rows and element of head dim.
#pragma once

#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

inline double forward_flop(const Problem& problem) {
  return 4.0 * double(problem.batch) * double(problem.heads) * double(problem.head_dim) *
         visible_pairs(problem.mask, problem.seq_q, problem.seq_kv);
}

}  // namespace sawtooth::experiments
