// The definition of a mask, row by row and key by key, and what follows from it for tiles: slow
// and obvious, so that the closed forms of scheduler/ can be held against it.
#pragma once

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::tests {

inline bool sees(const Problem& problem, int64_t row, int64_t key, int64_t rows_a_position = 1) {
  const int64_t diagonal = problem.seq_kv - problem.seq_q / rows_a_position;
  const int64_t position = row / rows_a_position;
  if (problem.mask.kind == MaskKind::none) return true;
  if (key > position + diagonal) return false;
  return problem.mask.kind == MaskKind::causal || position + diagonal - problem.mask.window < key;
}

/// Whether any valid row of Q tile `q_tile` sees any valid key of K/V tile `kv_tile`.
inline bool tile_sees(const Problem& problem, const Tiling& tiling, int64_t q_tile,
                      int64_t kv_tile) {
  for (int64_t row = q_tile * tiling.q_rows;
       row < (q_tile + 1) * tiling.q_rows && row < problem.seq_q; ++row) {
    for (int64_t key = kv_tile * tiling.kv_rows;
         key < (kv_tile + 1) * tiling.kv_rows && key < problem.seq_kv; ++key) {
      if (sees(problem, row, key, tiling.rows_a_position)) return true;
    }
  }
  return false;
}

}  // namespace sawtooth::tests
