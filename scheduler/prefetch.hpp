// Wave prefetch: the workers that stand at one head share the work of bringing the K/V tile that
// they will need `distance` steps later into L2, each its part of the tile's lines.
//
// A wave is the items [w W, (w + 1) W): those of one head among them are its sharers. An explicit
// order has no such structure, so there every worker prefetches whole tiles.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth {

/// This item's place among the `workers` items of its wave that share its head.
struct PrefetchShare {
  int64_t rank = 0;
  int64_t workers = 1;

  /// Lines [begin, end) of a tile of `lines` lines that fall to this item.
  SAWTOOTH_HD constexpr Range lines_of(int64_t lines) const {
    return {rank * lines / workers, (rank + 1) * lines / workers};
  }
};

/// Numbers in [0, below) that leave `residue` modulo `modulus`; 0 <= residue < modulus.
SAWTOOTH_HD constexpr int64_t count_congruent(int64_t below, int64_t residue, int64_t modulus) {
  return below <= residue ? 0 : (below - residue - 1) / modulus + 1;
}

SAWTOOTH_HD constexpr PrefetchShare prefetch_share(const Problem& problem, const Tiling& tiling,
                                                   const Schedule& schedule, int64_t item) {
  if (schedule.order.list != nullptr || schedule.loop == Loop::kv_outer) return {};
  const int64_t ranks = q_tiles(problem, tiling);
  const int64_t all_heads = problem.batch * problem.heads * schedule.kv_split;
  const SectionPlace place = section_place(item, schedule.order.section, all_heads, ranks);
  const int64_t wave_begin = item / schedule.workers * schedule.workers;
  const int64_t section_items = place.heads * ranks;
  const int64_t begin = max_of(0, wave_begin - place.first_item);
  const int64_t end = min_of(section_items, wave_begin + schedule.workers - place.first_item);
  const int64_t before = count_congruent(begin, place.head_in_section, place.heads);
  return {
      .rank = count_congruent(item - place.first_item, place.head_in_section, place.heads) - before,
      .workers = count_congruent(end, place.head_in_section, place.heads) - before};
}

}  // namespace sawtooth
