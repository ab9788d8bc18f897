// Which tiles of an item need no mask, and which keys of a tile a row sees, or rows a key is seen
// by. Plain C++: tests/kernels checks both against scheduler/mask.hpp without a GPU.
#pragma once

#include <cstdint>

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

/// K/V tiles of which every key exists and is seen by every row of Q tile `q_tile`.
SAWTOOTH_HD constexpr Range unmasked_kv_tiles(const Problem& problem, const Tiling& tiling,
                                              int64_t q_tile) {
  const Range rows = tile_rows(q_tile, tiling.q_rows, problem.seq_q);
  const int64_t diagonal = problem.seq_kv - problem.seq_q;
  int64_t first_key = 0;
  int64_t end_key = problem.seq_kv;
  if (problem.mask.kind != MaskKind::none) end_key = min_of(end_key, rows.begin + diagonal + 1);
  if (problem.mask.kind == MaskKind::window)
    first_key = max_of(0, rows.end - 1 + diagonal - problem.mask.window + 1);
  return {ceil_div(first_key, tiling.kv_rows), max_of(0, end_key) / tiling.kv_rows};
}

/// Keys of a K/V tile that exist; the last tile may have fewer than its rows.
SAWTOOTH_HD constexpr int valid_keys(const Problem& problem, const Tiling& tiling, int64_t tile) {
  return int(min_of(problem.seq_kv - tile * tiling.kv_rows, tiling.kv_rows));
}

/// Keys that row `row` sees, relative to key `first_key` and cut to [0, keys); row < seq_q or not.
SAWTOOTH_HD constexpr Range seen_keys(const Problem& problem, int64_t row, int64_t first_key,
                                      int64_t keys) {
  const int64_t diagonal = problem.seq_kv - problem.seq_q;
  int64_t begin = 0;
  int64_t end = problem.seq_kv;
  if (problem.mask.kind != MaskKind::none) end = min_of(end, row + diagonal + 1);
  if (problem.mask.kind == MaskKind::window)
    begin = max_of(0, row + diagonal - problem.mask.window + 1);
  return {clamp_to(begin - first_key, 0, keys), clamp_to(end - first_key, 0, keys)};
}

/// Q tiles of which every row sees every key of K/V tile `kv_tile`; none where a key is missing.
SAWTOOTH_HD constexpr Range unmasked_q_tiles(const Problem& problem, const Tiling& tiling,
                                             int64_t kv_tile) {
  const Range keys = tile_rows(kv_tile, tiling.kv_rows, problem.seq_kv);
  if (keys.size() < tiling.kv_rows) return {};
  const int64_t diagonal = problem.seq_kv - problem.seq_q;
  int64_t first_row = 0;
  int64_t end_row = problem.seq_q;
  if (problem.mask.kind != MaskKind::none) first_row = max_of(0, keys.end - 1 - diagonal);
  if (problem.mask.kind == MaskKind::window)
    end_row = min_of(end_row, keys.begin + problem.mask.window - diagonal);
  const int64_t end =
      end_row == problem.seq_q ? q_tiles(problem, tiling) : max_of(0, end_row) / tiling.q_rows;
  return {ceil_div(first_row, tiling.q_rows), end};
}

/// Rows that see key `key`, relative to row `first_row` and cut to [0, rows); key < seq_kv or not.
SAWTOOTH_HD constexpr Range seeing_rows_of(const Problem& problem, int64_t key, int64_t first_row,
                                           int64_t rows) {
  if (key >= problem.seq_kv) return {};
  const Range seeing = seeing_rows(problem.mask, {key, key + 1}, problem.seq_q, problem.seq_kv);
  return {clamp_to(seeing.begin - first_row, 0, rows), clamp_to(seeing.end - first_row, 0, rows)};
}

}  // namespace sawtooth::kernels
