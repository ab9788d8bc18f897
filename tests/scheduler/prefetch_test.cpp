#include "scheduler/prefetch.hpp"

#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth {
namespace {

// The sharers of an item, counted one by one: items of its wave on its head and part.
RC_GTEST_PROP(Prefetch, ShareIsTheItemsPlaceAmongItsWavesItemsOnItsHead, ()) {
  const Problem problem = tests::any_problem();
  const Tiling tiling = tests::any_tiling();
  Schedule schedule = tests::any_schedule(problem);
  schedule.loop = Loop::kv_inner;
  if (cuts_last_wave(schedule)) schedule.launch = launch_id<StaticLaunch>;  // pieces share nothing
  const int64_t items = item_count(problem, tiling, schedule);
  const int64_t index = tests::between(0, items - 1);
  const Item item = item_at(problem, tiling, schedule, index);
  const int64_t wave = index / schedule.workers;
  PrefetchShare expected{.rank = 0, .workers = 0};
  for (int64_t i = 0; i < items; ++i) {
    const Item other = item_at(problem, tiling, schedule, i);
    const bool shares = i / schedule.workers == wave && other.batch == item.batch &&
                        other.head == item.head && other.part == item.part;
    if (shares && i < index) ++expected.rank;
    if (shares) ++expected.workers;
  }
  const PrefetchShare share = prefetch_share(problem, tiling, schedule, index);
  RC_ASSERT(share.rank == expected.rank);
  RC_ASSERT(share.workers == expected.workers);
}

RC_GTEST_PROP(Prefetch, SharesOfATileAreDisjointAndCoverIt, ()) {
  const int64_t workers = tests::between(1, 140);
  const int64_t lines = tests::between(1, 300);
  int64_t next = 0;
  for (int64_t rank = 0; rank < workers; ++rank) {
    const Range part = PrefetchShare{.rank = rank, .workers = workers}.lines_of(lines);
    RC_ASSERT(part.begin == next);
    next = part.end;
  }
  RC_ASSERT(next == lines);
}

}  // namespace
}  // namespace sawtooth
