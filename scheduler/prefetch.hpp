// Wave prefetch: the workers that stand at one head share the work of bringing the K/V tile that
// they will need `distance` steps later into L2, each its part of a tile's lines in its own item's
// scan. A part is counted on a full tile; the last tile of a head, where it is shorter, cuts it.
//
// A wave is the items [w W, (w + 1) W): those of one head among them are its sharers. An explicit
// order has no such structure, nor has a last wave in pieces: there a worker prefetches whole
// tiles.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"
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

/// Lines of a full tile of K, or of V, with rows of `row_bytes`.
SAWTOOTH_HD constexpr int64_t prefetch_lines(const Tiling& tiling, int64_t row_bytes) {
  return ceil_div(tiling.kv_rows * row_bytes, line_bytes);
}

/// Numbers in [0, below) that leave `residue` modulo `modulus`; 0 <= residue < modulus.
SAWTOOTH_HD constexpr int64_t count_congruent(int64_t below, int64_t residue, int64_t modulus) {
  return below <= residue ? 0 : (below - residue - 1) / modulus + 1;
}

/// The items of the wave of item `index` that lie in the section of `place`, counted from its
/// first.
SAWTOOTH_HD constexpr Range wave_in_section(const Schedule& schedule, int64_t index,
                                            int64_t q_tiles, const SectionPlace& place) {
  const int64_t begin = index / schedule.workers * schedule.workers - place.first_item;
  return {max_of(0, begin), min_of(place.heads * q_tiles, begin + schedule.workers)};
}

/// The share of item `index`, which stands at `place` in the wave `wave`.
SAWTOOTH_HD constexpr PrefetchShare share_in_wave(int64_t index, const SectionPlace& place,
                                                  const Range& wave) {
  const auto below = [&](int64_t end) {
    return count_congruent(end, place.head_in_section, place.heads);
  };
  const int64_t before = below(wave.begin);
  return {below(index - place.first_item) - before, below(wave.end) - before};
}

SAWTOOTH_HD constexpr PrefetchShare prefetch_share(const Problem& problem, const Tiling& tiling,
                                                   const Schedule& schedule, int64_t item) {
  if (schedule.order.list != nullptr || schedule.loop == Loop::kv_outer) return {};
  if (cuts_last_wave(schedule) && last_wave(problem, tiling, schedule).cuts(item)) return {};
  const int64_t ranks = q_tiles(problem, tiling);
  const int64_t all_heads = problem.batch * problem.heads * schedule.kv_split;
  const SectionPlace place = section_place(item, schedule.order.section, all_heads, ranks);
  return share_in_wave(item, place, wave_in_section(schedule, item, ranks, place));
}

}  // namespace sawtooth
