// Which keys of a K/V tile a query row sees, and whether a tile needs the question at all.
#pragma once

#include <cstdint>

#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels::hopper {

/// Keys that query row `row` sees; `row` may lie past the end.
SAWTOOTH_HD constexpr Range keys_of_row(const Problem& problem, int64_t row) {
  if (problem.mask.kind == MaskKind::none) return {0, problem.seq_kv};
  const int64_t end = min_of(problem.seq_kv, row + problem.seq_kv - problem.seq_q + 1);
  const bool window = problem.mask.kind == MaskKind::window;
  return {window ? row + problem.seq_kv - problem.seq_q - problem.mask.window + 1 : 0, end};
}

/// True unless every valid row of the Q tile sees all rows of the K/V tile. The first row sees the
/// fewest late keys, the last row the fewest early ones.
SAWTOOTH_HD constexpr bool needs_mask(const Problem& problem, const Tiling& tiling, int64_t q_tile,
                                      int64_t kv_tile) {
  const Range rows = tile_rows(q_tile, tiling.q_rows, problem.seq_q);
  return keys_of_row(problem, rows.begin).end < (kv_tile + 1) * tiling.kv_rows ||
         keys_of_row(problem, rows.end - 1).begin > kv_tile * tiling.kv_rows;
}

}  // namespace sawtooth::kernels::hopper
