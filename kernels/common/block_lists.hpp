// Lists of visible tiles as kernels read them. An entry is twice the number of a K/V tile, plus 1
// where some row of the Q tile does not see some key of it: such a tile is partial, and its rows
// ask their spans.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/tile_lists.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

/// Device memory. `entries` are TileLists of entries instead of tiles, in the order of the tiles.
struct BlockLists {
  TileLists entries;                // of each Q tile
  const KeySpans* spans = nullptr;  // one a query row; null: rows see all keys of their tiles
};

SAWTOOTH_HD constexpr int32_t tile_of_entry(int32_t entry) {
  return entry >> 1;
}
SAWTOOTH_HD constexpr bool is_partial(int32_t entry) {
  return (entry & 1) != 0;
}
/// What bounds the entries of these tiles.
SAWTOOTH_HD constexpr Range entries_of(Range tiles) {
  return {2 * tiles.begin, 2 * tiles.end};
}

/// The entries of the lists of Q tiles, place by place.
inline std::vector<int32_t> list_entries(const Problem& problem, const Tiling& tiling,
                                         const ListedTiles& lists) {
  const auto holds = [](Range range, Range keys) {
    return keys.begin >= range.begin && keys.end <= range.end;
  };
  std::vector<int32_t> entries;
  for (int64_t q_tile = 0; q_tile < q_tiles(problem, tiling); ++q_tile) {
    // Keys that every row sees in one and the same of its two ranges.
    Range early{0, problem.seq_kv}, late{0, problem.seq_kv};
    const Range rows = tile_rows(q_tile, tiling.q_rows, problem.seq_q);
    for (int64_t row = rows.begin; lists.spans != nullptr && row < rows.end; ++row) {
      const KeySpans& spans = lists.spans[row];
      early = {max_of(early.begin, spans.early_begin), min_of(early.end, spans.early_end)};
      late = {max_of(late.begin, spans.begin), min_of(late.end, spans.end)};
    }
    const Range places = lists.of_q.places(q_tile);
    for (int64_t place = places.begin; place < places.end; ++place) {
      const int32_t tile = lists.of_q.tiles[place];
      const Range keys{tile * tiling.kv_rows, (tile + 1) * tiling.kv_rows};
      entries.push_back(2 * tile + (holds(early, keys) || holds(late, keys) ? 0 : 1));
    }
  }
  return entries;
}

}  // namespace sawtooth::kernels
