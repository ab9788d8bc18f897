// FLOP of attention: those of each visible pair (Problem::flop_a_pair). Under causal the last key
// that a row sees counts half, so that S queries and S keys are S^2 / 2 pairs, the convention of
// the FlashAttention papers. Packed heads count their positions, head by head.
#pragma once

#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::experiments {

/// The problem's pass counts.
inline double attention_flop(const Problem& problem, const Tiling& tiling) {
  const int64_t positions = q_positions(problem, tiling);
  double pairs = is_listed(problem.mask) ? problem.mask.listed->pairs
                                         : visible_pairs(problem.mask, positions, problem.seq_kv);
  if (problem.mask.kind == MaskKind::causal) pairs -= double(min_of(positions, problem.seq_kv)) / 2;
  const int64_t heads = problem.batch * problem.heads * tiling.rows_a_position;
  return double(heads) * problem.flop_a_pair() * pairs;
}

/// All sequences count.
inline double attention_flop(const Problem& problem, const Tiling& tiling,
                             const Sequences& sequences) {
  if (sequences.lengths == nullptr) return attention_flop(problem, tiling);
  double flop = 0;
  for (int64_t batch = 0; batch < problem.batch; ++batch) {
    Problem own = sequences.of(problem, batch);
    own.batch = 1;
    flop += attention_flop(own, tiling);
  }
  return flop;
}

}  // namespace sawtooth::experiments
