// Tiles of a problem: a Q tile is `q_rows` query rows of one head, a K/V tile `kv_rows` keys.
// The last tile of a head is ragged when the length is no multiple of the tile.
// Where the heads of a group are packed (scheduler/tiling.hpp) several rows stand at one position.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/tile_lists.hpp"

namespace sawtooth {

struct Tiling {
  int64_t q_rows = 64;
  int64_t kv_rows = 64;
  int64_t rows_a_position = 1;  // neighbouring rows of Q that see the same keys
};

SAWTOOTH_HD constexpr int64_t q_tiles(const Problem& problem, const Tiling& tiling) {
  return ceil_div(problem.seq_q, tiling.q_rows);
}
SAWTOOTH_HD constexpr int64_t kv_tiles(const Problem& problem, const Tiling& tiling) {
  return ceil_div(problem.seq_kv, tiling.kv_rows);
}

/// Rows [begin, end) of tile `tile` in a sequence of `length` rows.
SAWTOOTH_HD constexpr Range tile_rows(int64_t tile, int64_t rows_per_tile, int64_t length) {
  return {tile * rows_per_tile, min_of(length, (tile + 1) * rows_per_tile)};
}

/// Query positions of a head.
SAWTOOTH_HD constexpr int64_t q_positions(const Problem& problem, const Tiling& tiling) {
  return problem.seq_q / tiling.rows_a_position;
}
/// Query positions of which at least one row lies in `rows`.
SAWTOOTH_HD constexpr Range positions_of(Range rows, const Tiling& tiling) {
  if (tiling.rows_a_position == 1 || rows.empty()) return rows;
  return {rows.begin / tiling.rows_a_position, ceil_div(rows.end, tiling.rows_a_position)};
}

/// Tiles that hold at least one row of `rows`.
SAWTOOTH_HD constexpr Range tiles_over(Range rows, int64_t rows_per_tile) {
  if (rows.empty()) return {};
  return {rows.begin / rows_per_tile, ceil_div(rows.end, rows_per_tile)};
}

/// K/V tiles with at least one pair of rows that Q tile `q_tile` sees, places of the mask's lists
/// where it has some; may be empty.
SAWTOOTH_HD constexpr Range visible_kv_tiles(const Problem& problem, const Tiling& tiling,
                                             int64_t q_tile) {
  if (is_listed(problem.mask)) return problem.mask.listed->of_q.places(q_tile);
  const Range rows = tile_rows(q_tile, tiling.q_rows, problem.seq_q);
  return tiles_over(visible_keys(problem.mask, positions_of(rows, tiling),
                                 q_positions(problem, tiling), problem.seq_kv),
                    tiling.kv_rows);
}

/// K/V tiles that all Q tiles of a head visit together, in logarithmic time.
constexpr int64_t visited_kv_tiles(const Problem& problem, const Tiling& tiling) {
  const int64_t ranks = q_tiles(problem, tiling);
  const int64_t all = kv_tiles(problem, tiling);
  if (problem.mask.kind == MaskKind::none || ranks == 0 || all == 0) return ranks * all;
  if (is_listed(problem.mask)) return problem.mask.listed->of_q.begin[ranks];
  // All in rows of Q, of which a key has as many as a position. Q tiles before `first` see nothing;
  // the others end at the tile of their last row's last key.
  const int64_t rows_a_key = tiling.rows_a_position;
  const int64_t kv_rows = tiling.kv_rows * rows_a_key;
  const int64_t diagonal = problem.seq_kv * rows_a_key - problem.seq_q;
  const int64_t first = max_of(0, -diagonal) / tiling.q_rows;
  const int64_t last_key = (first + 1) * tiling.q_rows + diagonal - 1;  // of tile `first`, if whole
  int64_t sum =
      all + (ranks - 1 - first) + floor_sum(ranks - 1 - first, tiling.q_rows, last_key, kv_rows);
  if (problem.mask.kind == MaskKind::causal) return sum;
  // With a window tiles begin at the tile of their first row's first key, from key 0 on.
  const int64_t window = min_of(problem.mask.window, problem.seq_kv);
  const int64_t hidden = window * rows_a_key - 1 - diagonal;  // the last row that still sees key 0
  const int64_t from = min_of(ranks, max_of(first, hidden < 0 ? 0 : hidden / tiling.q_rows + 1));
  const int64_t first_key = max_of(0, from * tiling.q_rows - (hidden + 1 - rows_a_key));
  return sum - floor_sum(ranks - from, tiling.q_rows, first_key, kv_rows);
}

/// Q tiles with at least one row that sees K/V tile `kv_tile`, places as above; may be empty.
SAWTOOTH_HD constexpr Range seeing_q_tiles(const Problem& problem, const Tiling& tiling,
                                           int64_t kv_tile) {
  if (is_listed(problem.mask)) return problem.mask.listed->of_kv.places(kv_tile);
  const Range keys = tile_rows(kv_tile, tiling.kv_rows, problem.seq_kv);
  const Range seeing =
      seeing_rows(problem.mask, keys, q_positions(problem, tiling), problem.seq_kv);
  return tiles_over({seeing.begin * tiling.rows_a_position, seeing.end * tiling.rows_a_position},
                    tiling.q_rows);
}

/// Tiles of one head that are items: its Q tiles, of the backward pass its K/V tiles.
SAWTOOTH_HD constexpr int64_t item_tiles(const Problem& problem, const Tiling& tiling, Pass pass) {
  return pass == Pass::forward ? q_tiles(problem, tiling) : kv_tiles(problem, tiling);
}

/// Tiles of the other side that the item with tile `own_tile` scans, of one head; may be empty.
SAWTOOTH_HD constexpr Range scanned_tiles(const Problem& problem, const Tiling& tiling,
                                          int64_t own_tile, Pass pass) {
  return pass == Pass::forward ? visible_kv_tiles(problem, tiling, own_tile)
                               : seeing_q_tiles(problem, tiling, own_tile);
}

/// The tiles of `visible` that lie in part `part` of `parts` equal parts of all `tiles` tiles.
SAWTOOTH_HD constexpr Range part_of(Range visible, int64_t part, int64_t parts, int64_t tiles) {
  const Range cut{max_of(visible.begin, part * tiles / parts),
                  min_of(visible.end, (part + 1) * tiles / parts)};
  return cut.empty() ? Range{} : cut;
}

// pack-gqa: the query heads of a group share the rows of one Q tile, so that its item reads K and V
// once for all of them (FlashAttention-3, hopper/pack_gqa.h). Row r of a packed head is query
// position r / group of head r mod group of the group; a tile may begin inside a position.

/// `problem` with its groups packed: each K/V head has one query head, of the rows of the whole
/// group. Its Q tiles are those of packed(tiling, problem).
SAWTOOTH_HD constexpr Problem packed(Problem problem) {
  problem.seq_q *= problem.heads_per_kv_head();
  problem.heads = problem.kv_heads;
  return problem;
}
/// `problem` is not packed yet.
SAWTOOTH_HD constexpr Tiling packed(Tiling tiling, const Problem& problem) {
  tiling.rows_a_position = problem.heads_per_kv_head();
  return tiling;
}

}  // namespace sawtooth
