#include "experiments/sawtooth/order/find_schedule.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/launch.hpp"
#include "scheduler/scan.hpp"

namespace sawtooth::experiments {
namespace {

// Below it the tiles of an item are in no known order: a random one has half of its pairs right.
constexpr double scan_is_known = 0.75;

/// A section and a Q order: the place of every item, as work_at() has it.
struct OrderTried {
  int64_t heads, q_tiles, section;
  int32_t q_order;
  double score = 0;

  int64_t place(int64_t item) const {
    const int64_t head = item / q_tiles, first_head = head / section * section;
    const int64_t rank = QOrders::dispatch(
        q_order, [&](auto policy) { return decltype(policy)::rank(item % q_tiles, q_tiles); });
    return first_head * q_tiles + rank * std::min(section, heads - first_head) + head - first_head;
  }
};

using Runs = std::vector<StampedRun>;

/// The first of the best by `judge(runs, candidate)`. Where both are many, some runs say which
/// candidates are judged by all.
template <class Judge>
OrderTried best_candidate(const Stamps& stamps, const Runs& runs, Judge judge) {
  constexpr size_t most_judged = size_t{1} << 22, least_runs = 64, judged_by_all = 64;
  std::vector<OrderTried> tried;
  const int64_t sections = stamps.q_tiles == 1 ? 1 : stamps.heads;  // all are the same order
  for (int64_t section = 1; section <= sections; ++section)
    for (int32_t q_order = 0; q_order < QOrders::size; ++q_order)
      tried.push_back({stamps.heads, stamps.q_tiles, section, q_order});
  const auto sort_by = [&](const Runs& judges) {
    for (OrderTried& one : tried) one.score = judge(judges, one);
    std::ranges::stable_sort(tried, std::greater(), &OrderTried::score);
  };
  if (tried.size() * runs.size() > most_judged) {
    Runs some;
    std::sample(runs.begin(), runs.end(), std::back_inserter(some),
                std::max(least_runs, most_judged / tried.size()), std::minstd_rand());
    sort_by(some);
    tried.resize(std::min(tried.size(), judged_by_all));
    std::ranges::sort(tried, {}, [](const auto& at) { return std::pair(at.section, at.q_order); });
  }
  sort_by(runs);
  return tried.front();
}

/// How many of the places that were added lie below one (a Fenwick tree).
class PlaceCounts {
 public:
  explicit PlaceCounts(int64_t places) : counts_(static_cast<size_t>(places) + 1) {}
  void add(int64_t place) {
    for (auto i = static_cast<size_t>(place) + 1; i < counts_.size(); i += i & (~i + 1))
      ++counts_[i];
  }
  int64_t below(int64_t place) const {
    int64_t sum = 0;
    for (auto i = static_cast<size_t>(place); i > 0; i -= i & (~i + 1)) sum += counts_[i];
    return sum;
  }

 private:
  std::vector<int64_t> counts_;
};

template <class Holds>
double share_of_whole(const Runs& runs, Holds holds) {
  int64_t all = 0, good = 0;
  for (const StampedRun& run : runs) {
    if (!run.whole) continue;
    ++all;
    if (holds(run)) ++good;
  }
  return all == 0 ? 0 : static_cast<double>(good) / static_cast<double>(all);
}

/// Among pairs of items of which one was surely taken before the other, this is the share whose
/// places are in this order less the share whose places are not (Kendall's tau). A CTA takes an
/// item after it has begun the one before and before its own first step; which of CTAs that begin
/// together came first is not known.
double agreement_with_time(const Runs& runs, const OrderTried& one) {
  struct Taken {
    int64_t after_ns, place;
  };
  std::vector<Taken> taken;  // those with an item before
  std::vector<int64_t> places;
  for (const StampedRun& run : runs) {
    if (!run.whole) continue;
    places.push_back(one.place(run.item));
    if (run.after_ns) taken.push_back({*run.after_ns, places.back()});
  }
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.after_ns < b.after_ns; });
  std::sort(places.begin(), places.end());
  const auto number = [&](int64_t place) {
    return std::lower_bound(places.begin(), places.end(), place) - places.begin();
  };
  PlaceCounts earlier(std::ssize(places));
  auto next = runs.begin();
  int64_t pairs = 0, in_order = 0, seen = 0;
  for (const Taken& later : taken) {
    for (; next != runs.end() && next->first_ns <= later.after_ns; ++next) {
      if (!next->whole) continue;
      earlier.add(number(one.place(next->item)));
      ++seen;
    }
    pairs += seen;
    in_order += earlier.below(number(later.place));
  }
  if (pairs == 0) return 1;
  return 2 * static_cast<double>(in_order) / static_cast<double>(pairs) - 1;
}

int64_t most_at_once(const Runs& runs) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // time, +1 or -1; ends come first
  for (const StampedRun& run : runs) {
    changes.emplace_back(run.first_ns, 1);
    changes.emplace_back(run.last_ns + 1, -1);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (const auto& change : changes) most = std::max(most, now += change.second);
  return most;
}

struct TileRange {
  int64_t begin = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
};

/// What a mask leaves of K/V to a Q tile, from all heads together, since single stamps are lost.
std::vector<TileRange> ranges_of(const Stamps& stamps) {
  std::vector<TileRange> ranges(static_cast<size_t>(stamps.q_tiles));
  for (const RecordedStep& step : stamps.steps) {
    TileRange& range = ranges[static_cast<size_t>(step.q_tile)];
    range.begin = std::min(range.begin, step.kv_tile);
    range.end = std::max(range.end, step.kv_tile + 1);
  }
  return ranges;
}

/// Share of the pairs of tiles, one visited after the other, that `scan` has in this order.
double steps_in_order(const Stamps& stamps, const Runs& runs, const FoundSchedule& found,
                      const OrderTried& order, int32_t scan) {
  const std::vector<TileRange> ranges = ranges_of(stamps);
  std::map<int64_t, int64_t> items_of_cta;
  int64_t pairs = 0, good = 0;
  std::vector<int64_t> rank;
  for (const StampedRun& run : runs) {
    const int64_t counter = items_of_cta[run.cta]++;
    if (!run.whole || run.tiles.size() < 2) continue;
    const int64_t q_tile = run.item % stamps.q_tiles;
    TileRange range = ranges[static_cast<size_t>(q_tile)];
    const int64_t most = most_a_stamp * std::ssize(run.tiles);
    const auto [least, last] = std::ranges::minmax(run.tiles);
    if (last - least >= most) continue;
    if (range.end - range.begin > most) range = {least, last + 1};  // that of much longer items
    const int64_t place = order.place(run.item);
    const int64_t wave = place / found.workers;
    const ScanContext context{.tiles = range.end - range.begin,
                              .item = place,
                              .items_before = found.launch == "dynamic" ? counter : wave,
                              .own_tile = q_tile,
                              .workers = found.workers,
                              .attach_position = run.tiles.front() - range.begin,
                              .seed = 0};
    rank.assign(static_cast<size_t>(context.tiles), 0);
    for (int64_t step = 0; step < context.tiles; ++step)
      rank[static_cast<size_t>(scan_position(ScanId{scan}, context, step))] = step;
    for (size_t i = 1; i < run.tiles.size(); ++i) {
      ++pairs;
      good += rank[static_cast<size_t>(run.tiles[i - 1] - range.begin)] <
              rank[static_cast<size_t>(run.tiles[i] - range.begin)];
    }
  }
  return pairs == 0 ? 1 : static_cast<double>(good) / static_cast<double>(pairs);
}

void find_scan(const Stamps& stamps, const Runs& runs, const OrderTried& order,
               FoundSchedule& found) {
  found.steps_in_order = -1;
  const auto try_scan = [&](int32_t scan) {
    const double share = steps_in_order(stamps, runs, found, order, scan);
    if (share <= found.steps_in_order) return;
    found.steps_in_order = share;
    found.scan = Scans::info()[static_cast<size_t>(scan)].name;
  };
  // attach comes last: it takes each item's beginning from the stamps, and so fits what begins
  // anywhere by another rule.
  constexpr int32_t attach = scan_id<AttachScan>.index;
  for (int32_t scan = 0; scan < Scans::size; ++scan)
    if (scan != attach) try_scan(scan);
  try_scan(attach);
  if (found.steps_in_order < scan_is_known) found.scan = RandomScan::name;
}

/// Items a wave, where the waves go forwards and backwards in turn: that which says of most items
/// which way they went.
int64_t wave_of(const Stamps& stamps, const Runs& runs, const OrderTried& order) {
  const int64_t items = stamps.heads * stamps.q_tiles;
  std::vector<int64_t> sums(static_cast<size_t>(items) + 1);
  int64_t* const forwards = sums.data();  // less backwards, below a place
  for (const StampedRun& run : runs)
    if (run.whole && run.tiles.size() > 1)
      forwards[order.place(run.item) + 1] += run.tiles.front() > run.tiles.back() ? -1 : 1;
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  int64_t best = items, most = std::numeric_limits<int64_t>::min();
  for (int64_t wave = 1; wave <= items; ++wave) {
    int64_t right = 0, sign = 1;  // less wrong
    for (int64_t begin = 0; begin < items; begin += wave, sign = -sign)
      right += sign * (forwards[std::min(begin + wave, items)] - forwards[begin]);
    if (right > most) {
      most = right;
      best = wave;
    }
  }
  return best;
}

/// Under grid a kernel is told how many items are a wave. That need not be how many ran at once,
/// which is tried first.
void find_waves(const Stamps& stamps, const Runs& runs, const OrderTried& order,
                FoundSchedule& found) {
  FoundSchedule in_waves = found;
  in_waves.workers = wave_of(stamps, runs, order);
  in_waves.scan = SawtoothScan::name;
  in_waves.steps_in_order =
      steps_in_order(stamps, runs, in_waves, order, scan_id<SawtoothScan>.index);
  if (in_waves.steps_in_order >= FoundSchedule::enough) found = in_waves;
}

}  // namespace

FoundSchedule find_schedule(const Stamps& stamps) {
  const Runs runs = runs_of(stamps);
  std::set<int64_t> ctas, items;
  bool cut = false;
  for (const StampedRun& run : runs) {
    ctas.insert(run.cta);
    items.insert(run.item);
    cut = cut || !run.whole;
  }
  FoundSchedule found;
  // Where orders give a CTA the same items, the one that gives them in the order of time wins. An
  // item whose stamps are all lost shifts those behind it, so this decides between equals only.
  constexpr double between_equals = 1e-3;
  const bool grid = !cut && ctas.size() == items.size();
  found.launch = grid ? GridLaunch::name : cut ? BalancedLaunch::name : StaticLaunch::name;
  found.workers = grid ? most_at_once(runs) : *ctas.rbegin() + 1;
  const auto in_place = [&](const Runs& judges, const OrderTried& one) {
    return share_of_whole(judges, [&](const StampedRun& run) {
      const int64_t place = one.place(run.item);
      return (grid ? place : place % found.workers) == run.cta;
    });
  };
  OrderTried order = best_candidate(stamps, runs, [&](const Runs& judges, const OrderTried& one) {
    const double score = in_place(judges, one);
    return grid ? score : score + between_equals * agreement_with_time(judges, one);
  });
  found.items_in_place = in_place(runs, order);
  if (!grid && !found.describes_order()) {
    found.launch = DynamicLaunch::name;
    order = best_candidate(stamps, runs, agreement_with_time);
    found.items_in_place = order.score;
  }
  found.section = order.section;
  found.q_order = QOrders::info()[static_cast<size_t>(order.q_order)].name;
  find_scan(stamps, runs, order, found);
  if (found.launch == GridLaunch::name && found.steps_in_order < FoundSchedule::enough)
    find_waves(stamps, runs, order, found);
  return found;
}

std::vector<WorkCoordinates> observed_order(const Stamps& stamps, const FoundSchedule& found) {
  struct Taken {
    int64_t item, round, cta;
  };
  std::vector<Taken> taken;
  std::map<int64_t, int64_t> items_of_cta;
  std::set<int64_t> seen;
  for (const StampedRun& run : runs_of(stamps)) {
    const int64_t round = items_of_cta[run.cta]++;
    if (seen.insert(run.item).second) taken.push_back({run.item, round, run.cta});
  }
  const int64_t items = stamps.heads * stamps.q_tiles;
  for (int64_t item = 0; item < items; ++item)
    if (!seen.contains(item))
      throw UsageError("--order-file: item " + std::to_string(item) + " of " +
                       std::to_string(items) + " has no stamp, so its place is not known");
  if (found.launch != DynamicLaunch::name)
    std::stable_sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) {
      return a.round != b.round ? a.round < b.round : a.cta < b.cta;
    });
  std::vector<WorkCoordinates> order;
  for (const Taken& one : taken)
    order.push_back({.batch = 0,
                     .head = one.item / stamps.q_tiles,
                     .own_tile = one.item % stamps.q_tiles,
                     .part = 0});
  return order;
}

Drift drift_of(const Stamps& stamps, const FoundSchedule& found) {
  Drift drift;
  drift.step_ns = median_step_ns(stamps.steps);
  const int64_t steps = stamps.steps.back().start_ns / drift.step_ns + 1;
  struct Spread {
    int64_t low, high, ctas;
  };
  std::map<std::pair<int64_t, int64_t>, Spread> at;  // (step, head)
  for (const WavefrontStep& step :
       sampled_wavefront(stamps.steps, steps, found.launch == GridLaunch::name)) {
    const auto [place, is_new] =
        at.try_emplace({step.step, step.head}, Spread{step.kv_tile, step.kv_tile, 0});
    Spread& spread = place->second;
    spread.low = std::min(spread.low, step.kv_tile);
    spread.high = std::max(spread.high, step.kv_tile);
    ++spread.ctas;
  }
  std::vector<double> tiles;
  for (const auto& entry : at)
    if (entry.second.ctas > 1)
      tiles.push_back(static_cast<double>(entry.second.high - entry.second.low));
  if (tiles.empty()) return drift;
  constexpr double p95 = 0.95;
  drift.median_tiles = median_of(tiles);
  drift.p95_tiles = quantile_of(tiles, p95);
  return drift;
}

}  // namespace sawtooth::experiments
