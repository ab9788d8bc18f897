#include "sim/bounds/read_bounds.hpp"

#include <algorithm>

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {
namespace {

/// Of the rows of `tiles` in K and in V.
int64_t kv_sectors(const Problem& problem, const Tiling& tiling, const Range& tiles) {
  constexpr int64_t tensors = 2;
  const int64_t end = min_of(problem.seq_kv, tiles.end * tiling.kv_rows);
  const int64_t rows = tiles.empty() ? 0 : end - tiles.begin * tiling.kv_rows;
  return tensors * ceil_div(rows * problem.row_bytes(), sector_bytes);
}

/// Q tiles that see something are read.
int64_t q_sectors(const Problem& problem, const Tiling& tiling) {
  int64_t rows = 0;
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile)
    if (!visible_kv_tiles(problem, tiling, tile).empty())
      rows += tile_rows(tile, tiling.q_rows, problem.seq_q).size();
  return problem.batch * problem.heads * ceil_div(rows * problem.row_bytes(), sector_bytes);
}

}  // namespace

int64_t kv_head_bound(std::vector<int64_t> item_sectors, int64_t union_sectors,
                      int64_t capacity_sectors, int64_t workers, int64_t cut_items) {
  std::sort(item_sectors.begin(), item_sectors.end());
  // The bound grows with every item, so those that may be cut are the largest.
  const auto whole = static_cast<int64_t>(item_sectors.size()) - cut_items;
  if (whole <= 0) return union_sectors;
  item_sectors.resize(static_cast<size_t>(whole));
  for (int64_t& sectors : item_sectors) sectors = max_of(0, sectors - capacity_sectors);
  const int64_t busiest = busiest_worker(std::move(item_sectors), workers);
  // Its first item beyond the capacity finds what others have read before.
  return max_of(union_sectors, busiest > 0 ? busiest + capacity_sectors : 0);
}

ReadBounds read_bounds(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                       int64_t l2_bytes) {
  std::vector<int64_t> items;  // of one K/V head
  Range seen{kv_tiles(problem, tiling), 0};
  for (int64_t tile = 0; tile < q_tiles(problem, tiling); ++tile) {
    for (int64_t part = 0; part < schedule.kv_split; ++part) {
      const Range tiles = part_of(visible_kv_tiles(problem, tiling, tile), part, schedule.kv_split,
                                  kv_tiles(problem, tiling));
      if (tiles.empty()) continue;
      seen = {min_of(seen.begin, tiles.begin), max_of(seen.end, tiles.end)};
      items.insert(items.end(), static_cast<size_t>(problem.heads_per_kv_head()),
                   kv_sectors(problem, tiling, tiles));
    }
  }
  const int64_t kv_heads = problem.batch * problem.kv_heads;
  const int64_t once = kv_sectors(problem, tiling, seen);
  const int64_t q = q_sectors(problem, tiling);
  ReadBounds bounds{q + kv_heads * once, q + kv_heads * once};
  if (schedule.loop == Loop::kv_outer) return bounds;
  const int64_t cut =
      cuts_last_wave(schedule) ? whole_item_count(problem, tiling, schedule) % schedule.workers : 0;
  const int64_t capacity = l2_bytes / line_bytes * sectors_per_line;
  bounds.all_orders =
      q + kv_heads * kv_head_bound(std::move(items), once, capacity, schedule.workers, cut);
  return bounds;
}

}  // namespace sawtooth::sim
