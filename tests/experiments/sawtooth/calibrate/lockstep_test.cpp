// Reads in lockstep, recorded on an H200, against the two-half model with its profile, whose rule
// of replacement and share of scattered lines are from these readings.
//
// Tolerances are what a reader of a prediction needs: DRAM reads within 3 % of all sectors that a
// visit could have had to fetch (a visit is a tile in a step, however many CTAs read it); of causal
// launches, where nearly every visit hits, within 10 % of the DRAM reads. Where readings differ by
// more from place to place, anything between the least and the most of them is as good.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "scheduler/memory_units.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "tests/experiments/sawtooth/calibrate/lockstep_patterns.hpp"

namespace sawtooth::experiments {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using enum LockstepFamily;

constexpr int32_t none = LockstepOrder::none;

/// One pattern at places of one kind.
struct LockstepReadings {
  LockstepPattern pattern;
  bool apart = false;
  int64_t per_half = 0;
  std::vector<int64_t> dram_read_sectors;  // one a place, ascending

  int64_t least() const { return dram_read_sectors.front(); }
  int64_t most() const { return dram_read_sectors.back(); }
  double median() const {
    const size_t n = dram_read_sectors.size();
    return 0.5 * double(dram_read_sectors[(n - 1) / 2] + dram_read_sectors[n / 2]);
  }
};

const std::vector<LockstepReadings>& recorded() {
  static std::vector<LockstepReadings> all;
  if (!all.empty()) return all;
  const CsvTable table = read_csv(SAWTOOTH_EXPERIMENTS_DIR "/data/h200/streams/lockstep_reads.csv");
  for (const LockstepRow& row : typed_rows(table, lockstep_columns())) {
    const auto same = std::ranges::find_if(all, [&](const LockstepReadings& other) {
      return other.pattern == row.pattern && other.apart == row.apart;
    });
    if (same == all.end())
      all.push_back({row.pattern, row.apart, row.ctas / 2, {row.dram_read_sectors}});
    else
      same->dram_read_sectors.push_back(row.dram_read_sectors);
  }
  for (LockstepReadings& readings : all) std::ranges::sort(readings.dram_read_sectors);
  return all;
}

/// DRAM reads of the model, with those of the table that the kernel reads. CTAs that read one tile
/// in one step make one visit; the visits of a step come in the order of the tiles' hashes, for
/// nothing orders them on a GPU.
int64_t replay_dram_sectors(const LockstepOrder& order, const sim::HalvesParameters& parameters) {
  const auto tiles = static_cast<size_t>(order.buffer_tiles());
  constexpr sim::AtomSize tile{.lines = lockstep_tile_bytes / line_bytes,
                               .sectors = lockstep_tile_bytes / sector_bytes,
                               .tensor = 0,
                               .tensors = 2};  // a half of each in either allocation
  sim::HalvesInStep l2(parameters);
  l2.begin({.sizes = std::vector<sim::AtomSize>(tiles, tile)});
  std::vector<uint32_t> visit_of_tile(tiles, UINT32_MAX);
  std::vector<sim::HalfVisit> visits;
  const int64_t steps = order.steps();
  for (int64_t step = 0; step < steps; ++step) {
    visits.clear();
    for (int64_t cta = 0; cta < order.ctas(); ++cta) {
      const int32_t read = order.tiles[static_cast<size_t>(step * order.ctas() + cta)];
      if (read == none) continue;
      uint32_t& visit = visit_of_tile[static_cast<size_t>(read)];
      if (visit == UINT32_MAX) {
        visit = static_cast<uint32_t>(visits.size());
        visits.push_back({.atom = static_cast<sim::AtomId>(read)});
      }
      ++visits[visit].times[cta < order.per_half ? 0 : 1];
    }
    std::ranges::sort(visits, {}, [&](const sim::HalfVisit& v) {
      return mix_seed(static_cast<uint64_t>(step), v.atom);
    });
    for (const sim::HalfVisit& visit : visits) {
      l2.visit(visit);
      visit_of_tile[visit.atom] = UINT32_MAX;
    }
  }
  return l2.counters(sim::Tensor::q).dram_read_sectors.value() + order.table_sectors();
}

constexpr double share_of_visits = 0.03;
constexpr double share_of_causal_reads = 0.1;

/// All that one tile of every visit is.
double visit_sectors(const LockstepOrder& order) {
  std::vector<int64_t> last(static_cast<size_t>(order.buffer_tiles()), -1);
  int64_t visits = 0;
  for (size_t i = 0; i < order.tiles.size(); ++i) {
    if (order.tiles[i] == none) continue;
    int64_t& step = last[static_cast<size_t>(order.tiles[i])];
    const int64_t now = static_cast<int64_t>(i) / order.ctas();
    visits += step == now ? 0 : 1;
    step = now;
  }
  return double(visits) * double(lockstep_tile_bytes / sector_bytes);
}

/// "follow 480 x4 r14 at 13" and the like: MiB, lanes, readers, distances.
std::string name_of(const LockstepReadings& r) {
  const LockstepPattern& p = r.pattern;
  std::string name(lockstep_family_names[static_cast<size_t>(p.family)]);
  name += ' ' + std::to_string(p.mib);
  if (p.lanes > 1) name += " x" + std::to_string(p.lanes);
  if (p.readers > 1) name += " r" + std::to_string(p.readers);
  for (const int64_t distance : {p.distance_mib, p.second_mib}) {
    if (distance > 0) name += " at " + std::to_string(distance);
  }
  return name + (p.across ? " across" : "") + (r.apart ? " apart" : "");
}

/// Loads at full pace, from the first seed.
bool plain(const LockstepPattern& p) {
  return p.pace_us == 0 && p.access == LockstepAccess::ld && p.seed == 1;
}

/// Names of those of `wanted` that the model misses; prints all.
template <class Wanted>
std::vector<std::string> missed(Wanted wanted) {
  const sim::Gpu gpu = read_gpu_file(SAWTOOTH_EXPERIMENTS_DIR "/profiles/gpus/h200.ini").profile;
  sim::Request request;
  request.l2_bytes = gpu.l2_bytes;
  sim::HalvesParameters parameters = sim::halves_model(request, gpu).l2;
  std::vector<std::string> names;
  int patterns = 0;
  for (const LockstepReadings& r : recorded()) {
    if (!wanted(r)) continue;
    ++patterns;
    const LockstepOrder order = lockstep_order(r.pattern, r.per_half);
    parameters.one_allocation = !r.apart;
    const auto model = double(replay_dram_sectors(order, parameters));
    const double tolerance = is_causal(r.pattern) ? share_of_causal_reads * r.median()
                                                  : share_of_visits * visit_sectors(order);
    const bool within = std::abs(model - r.median()) <= tolerance ||
                        (model >= double(r.least()) && model <= double(r.most()));
    std::printf("%-28s %8.2f M measured (%.2f to %.2f), %8.2f M model%s\n", name_of(r).c_str(),
                1e-6 * r.median(), 1e-6 * double(r.least()), 1e-6 * double(r.most()), 1e-6 * model,
                within ? "" : ", missed");
    if (!within) names.push_back(name_of(r));
  }
  EXPECT_GT(patterns, 0);
  return names;
}

TEST(H200Lockstep, WhatIsMeasuredMakesOrders) {
  for (const LockstepReadings& r : recorded()) {
    if (r.apart) continue;  // the same order
    const LockstepOrder order = lockstep_order(r.pattern, r.per_half);
    EXPECT_EQ(order.steps(), r.pattern.steps);
    EXPECT_GT(order.reads(), 0);
    EXPECT_LE(order.buffer_tiles(), r.pattern.mib * 32);
  }
}

const LockstepReadings& reading(const LockstepPattern& pattern) {
  return *std::ranges::find_if(recorded(),
                               [&](const auto& r) { return r.pattern == pattern && !r.apart; });
}

LockstepPattern following(int64_t distance_mib) {
  return {.family = follow, .mib = 480, .lanes = 4, .distance_mib = distance_mib, .steps = 6000};
}

// Whoever follows at 20 MiB would find its line in a half of 30 MiB if lines left as they came;
// with LRU both readers' lines are in the way. Fourteen hits on a line keep it no longer than one.
TEST(H200Lockstep, HitsMakeLinesYoungHoweverManyThereAre) {
  for (const int64_t distance : {13, 14, 15, 16, 18, 20, 26}) {
    LockstepPattern pattern = following(distance);
    const double all = visit_sectors(lockstep_order(pattern, 66));
    const double once = reading(pattern).median();
    pattern.readers = 14;
    EXPECT_NEAR(reading(pattern).median(), once, 0.005 * all) << distance;
    if (distance < 20) continue;
    EXPECT_NEAR(once, all, 0.01 * all) << distance;  // but for the first ones, while L2 fills
  }
}

TEST(H200Lockstep, NeitherPaceNorKindOfLoadMatters) {
  for (const int64_t distance : {14, 20}) {
    const double plainly = reading(following(distance)).median();
    LockstepPattern slow = following(distance), copied = slow;
    slow.pace_us = 6;
    copied.access = LockstepAccess::cp_async;
    for (const LockstepPattern& other : {slow, copied})
      EXPECT_NEAR(reading(other).median(), plainly, 0.005 * plainly) << distance;
  }
}

// Where the model is outside of the tolerance today (docs/models/halves.md); a better one leaves
// names out of these lists, a worse one adds some.

TEST(H200Lockstep, OneFollowerIsPredictedButAtTheEdge) {
  EXPECT_THAT(missed([](const LockstepReadings& r) {
                const LockstepPattern& p = r.pattern;
                return plain(p) && p.family == follow && p.lanes == 4 && p.readers == 1 &&
                       p.second_mib == 0 && p.distance_mib >= 13 && p.distance_mib <= 20;
              }),
              UnorderedElementsAre("follow 480 x4 at 14", "follow 480 x4 at 15",
                                   "follow 480 x4 at 13 apart", "follow 480 x4 at 14 apart",
                                   "follow 480 x4 at 15 apart"));
}

TEST(H200Lockstep, OneHalfsReadersArePredictedButAtTheEdge) {
  EXPECT_THAT(missed([](const LockstepReadings& r) {
                return r.pattern.family == one_half && r.pattern.distance_mib >= 14 &&
                       r.pattern.distance_mib <= 36;
              }),
              UnorderedElementsAre("one-half 480 x4 at 22 across"));
}

TEST(H200Lockstep, RingsArePredictedButOne) {
  EXPECT_THAT(missed([](const LockstepReadings& r) {
                const LockstepPattern& p = r.pattern;
                return p.family == ring && p.lanes == 11 && p.mib >= 28 && p.mib <= 34;
              }),
              UnorderedElementsAre("ring 32 x11"));
}

TEST(H200Lockstep, PlacesOfChanceAndHotTilesArePredictedButAtTheEdge) {
  EXPECT_THAT(
      missed([](const LockstepReadings& r) {
        const LockstepPattern& p = r.pattern;
        return plain(p) && p.readers == 1 &&
               ((p.family == single && p.mib == 48) || (p.family == hot && p.distance_mib == 12 &&
                                                        p.second_mib >= 14 && p.second_mib <= 22));
      }),
      UnorderedElementsAre("hot 480 x4 at 12 at 22"));
}

// Contiguous tiles, and K and V in allocations of their own.
TEST(H200Lockstep, CausalLaunchesArePredictedApartAndTogether) {
  EXPECT_THAT(missed([](const LockstepReadings& r) {
                const LockstepPattern& p = r.pattern;
                return plain(p) && !p.across &&
                       ((p.mib == 52 && p.family == causal) ||
                        (p.mib == 48 && !r.apart && p.family == causal_sawtooth));
              }),
              IsEmpty());
}

}  // namespace
}  // namespace sawtooth::experiments
