// How long a problem takes with a tile, so that the fastest of several can be chosen beforehand: an
// item costs something of its own and something for every key that its tiles visit, seen or not.
#pragma once

#include <cstdint>

#include "scheduler/problem.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth::kernels {

/// What one CTA takes for an item: its start and end, and a key for all of its query rows.
struct ItemCost {
  double item_us = 0;
  double key_ns = 0;
};

/// A tile costs more with a mask: masked steps and uneven warpgroups make items dearer.
struct TileCost {
  ItemCost without_mask;
  ItemCost with_mask;

  constexpr bool measured() const { return without_mask.key_ns > 0; }
};

/// Time of `problem` in tiles of `tiling` on `workers` CTAs. Equal items come in whole waves; those
/// under a mask differ, and even out when the longest go first.
constexpr double estimated_us(const Problem& problem, const Tiling& tiling, const TileCost& cost,
                              int64_t workers) {
  const bool masked = problem.mask.kind != MaskKind::none;
  const ItemCost& item = masked ? cost.with_mask : cost.without_mask;
  constexpr double us_per_ns = 1e-3;
  const double tile_us = double(tiling.kv_rows) * item.key_ns * us_per_ns;
  const int64_t heads = problem.batch * problem.heads;
  const int64_t ranks = q_tiles(problem, tiling);
  if (!masked) {
    const int64_t waves = ceil_div(heads * ranks, workers);
    return double(waves) * (item.item_us + double(kv_tiles(problem, tiling)) * tile_us);
  }
  const double of_a_head =
      double(ranks) * item.item_us + double(visited_kv_tiles(problem, tiling)) * tile_us;
  return double(heads) * of_a_head / double(workers);
}

}  // namespace sawtooth::kernels
