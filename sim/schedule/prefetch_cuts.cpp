#include "sim/schedule/prefetch_cuts.hpp"

#include <algorithm>
#include <set>

#include "scheduler/memory_units.hpp"
#include "scheduler/prefetch.hpp"

namespace sawtooth::sim {
namespace {

// Without a mask all items have equally many steps, so that waves stay whole in lockstep; a head at
// a time, its sharers are neighbours; and these scans are the same for all of a wave.
bool sharers_keep_together(const Problem& problem, const Schedule& schedule) {
  return problem.mask.kind == MaskKind::none && schedule.kv_split == 1 &&
         schedule.order.section == 1 && traits_of(schedule.scan).one_a_wave;
}

}  // namespace

std::vector<int64_t> prefetch_cuts(const Problem& problem, const Tiling& tiling,
                                   const Schedule& schedule) {
  const bool whole = schedule.prefetch == 0 || schedule.loop == Loop::kv_outer ||
                     schedule.order.list != nullptr || sharers_keep_together(problem, schedule);
  if (whole) return {0};
  std::set<int64_t> sharers;
  const int64_t items = item_count(problem, tiling, schedule);
  for (int64_t item = 0; item < items; ++item) {
    sharers.insert(prefetch_share(problem, tiling, schedule, item).workers);
  }
  std::set<int64_t> cuts{0};
  const int64_t lines = prefetch_lines(problem, tiling);
  for (const int64_t workers : sharers) {
    for (int64_t rank = 1; rank < workers; ++rank) {
      cuts.insert(PrefetchShare{rank, workers}.lines_of(lines).begin);
    }
  }
  return {cuts.begin(), cuts.end()};
}

}  // namespace sawtooth::sim
