// What the rows of a warpgroup see of a K/V tile. mask_range.hpp says it row by row and for any
// size; here it is a few instructions of 32 bits, for consumers that ask in every step that may
// hide a key. Plain C++: tests/kernels/hopper_sight_test.cpp checks it without a GPU.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels::hopper {

/// No key by any row; some keys; every key by every row.
enum class Sight : int { nothing, some, all };

/// Keys [begin, end) relative to some first key, not cut to a tile. 32 bits hold them, as they hold
/// the coordinates of a tensor map.
struct KeySpan {
  int begin;
  int end;
};

/// Keys that row `row` sees, relative to `first_key`; row < seq_q or not.
SAWTOOTH_HD constexpr KeySpan keys_seen(const Problem& problem, int row, int first_key) {
  const int seq_kv = int(problem.seq_kv);
  const int end_of_row = row + seq_kv - int(problem.seq_q) + 1;
  const int end = problem.mask.kind == MaskKind::none ? seq_kv : min_of(seq_kv, end_of_row);
  const int begin =
      problem.mask.kind == MaskKind::window
          ? end_of_row - int(min_of(problem.mask.window, problem.seq_kv + problem.seq_q))
          : 0;
  return {begin - first_key, end - first_key};
}

/// What rows [first_row, first_row + rows) see of the `keys` keys from `first_key` on. The first
/// row sees the first keys of them all, the last row the last ones.
SAWTOOTH_HD constexpr Sight sight_of(const Problem& problem, int first_row, int rows, int first_key,
                                     int keys) {
  const KeySpan of_first = keys_seen(problem, first_row, first_key);
  const KeySpan of_last = keys_seen(problem, first_row + rows - 1, first_key);
  if (of_last.end <= 0 || of_first.begin >= keys) return Sight::nothing;
  if (of_first.end >= keys && of_last.begin <= 0) return Sight::all;
  return Sight::some;
}

/// Rows [begin, end) relative to some first row, not cut to a tile.
struct RowSpan {
  int begin;
  int end;
};

/// Rows that see key `key`, relative to `first_row`; none where key >= seq_kv.
SAWTOOTH_HD constexpr RowSpan rows_seeing(const Problem& problem, int key, int first_row) {
  const int seq_q = int(problem.seq_q);
  const int seq_kv = int(problem.seq_kv);
  const int first = key + seq_q - seq_kv;  // that sees it under a mask
  const int begin = problem.mask.kind == MaskKind::none || first < 0 ? 0 : first;
  int end = seq_q;
  if (problem.mask.kind == MaskKind::window) {
    const int last = first + int(min_of(problem.mask.window, problem.seq_kv + problem.seq_q));
    end = last < seq_q ? last : seq_q;
  }
  return {begin - first_row, (key < seq_kv ? end : 0) - first_row};
}

}  // namespace sawtooth::kernels::hopper
