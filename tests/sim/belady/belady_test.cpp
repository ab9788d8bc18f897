// Belady's optimum on whole tiles against the definition line by line, and against every other
// replacement, which it must bound.
#include <random>

#include "sim/belady/belady_lines.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/naive_sets.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;

struct Visited {
  AtomId atom = 0;
  uint32_t times = 1;
};

std::vector<int64_t> missed_lines(const std::vector<AtomSize>& sizes, int64_t capacity,
                                  const std::vector<Visited>& visits) {
  BeladyLines cache(sizes, capacity);
  std::vector<int64_t> missed;
  for (const Visited& visit : visits) missed.push_back(cache.visit(visit.atom, visit.times).lines);
  return missed;
}

std::vector<Visited> of_digits(std::string_view trace) {
  std::vector<Visited> visits;
  for (const char digit : trace) visits.push_back({static_cast<AtomId>(digit - '0'), 1});
  return visits;
}

TEST(Belady, TextbookStringMissesNineTimesInThreeFrames) {
  // Silberschatz, Galvin and Gagne, "Operating System Concepts", optimal page replacement.
  const std::vector<AtomSize> lines(8, AtomSize{1, 4});
  const auto missed = missed_lines(lines, 3, of_digits("70120304230321201701"));
  // 7 0 1 2(7) 0+ 3(1) 0+ 4(0) 2+ 3+ 0(4) 3+ 2+ 1(3) 2+ 0+ 1+ 7(2) 0+ 1+
  EXPECT_EQ(missed,
            (std::vector<int64_t>{1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0}));
}

TEST(Belady, TilesShareTheCacheLineByLine) {
  // Two tiles of two lines in three. A0 A1 B0 fill it. B1: B0 is needed last of all, so it leaves.
  // A0 A1 hit. B0: A is never needed again and gives a line. B1 hits. Whole tiles in one slot of
  // two lines would miss 2 2 2 2.
  EXPECT_EQ(missed_lines({{2, 8}, {2, 8}}, 3, of_digits("0101")),
            (std::vector<int64_t>{2, 2, 0, 1}));
}

TEST(Belady, TileLargerThanTheCacheKeepsItsBeginning) {
  // Five lines in three. First 0 1 2 fill, 3 replaces 2, 4 replaces 3: 0 1 4 stay. Second visit: 0
  // 1 hit, and 2 3 replace lines that are not needed again, while 4 stays: 4 hits.
  EXPECT_EQ(missed_lines({{5, 20}}, 3, of_digits("00")), (std::vector<int64_t>{5, 2}));
  // The same as two visits in direct succession.
  EXPECT_EQ(missed_lines({{5, 20}}, 3, {{0, 2}}), (std::vector<int64_t>{7}));
}

TEST(Belady, CyclicScanKeepsAllButOneLineOfTheCache) {
  // A cyclic scan of n lines in c: the optimum hits (c - 1) / (n - 1) of a long run (Belady 1966;
  // one place is needed for the line that passes by). 50 tiles of 4 lines in 120 lines: 119 / 199.
  const std::vector<AtomSize> sizes(50, AtomSize{4, 16});
  std::vector<Visited> visits;
  for (int i = 0; i < 200 * 50; ++i) visits.push_back({static_cast<AtomId>(i % 50), 1});
  int64_t missed = 0;
  for (const int64_t lines : missed_lines(sizes, 120, visits)) missed += lines;
  EXPECT_NEAR(static_cast<double>(missed) / (200 * 200), 1 - 119.0 / 199, 0.005);
}

TEST(Belady, MemoryIsBoundedByTilesNotByVisits) {
  const std::vector<AtomSize> sizes(100, AtomSize{4, 16});
  BeladyLines cache(sizes, 50);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) cache.visit(static_cast<AtomId>(random() % sizes.size()), 1);
  EXPECT_LE(cache.slots(), 1024);
}

TEST(Belady, CacheWithoutLinesIsRefused) {
  const std::vector<AtomSize> sizes{{1, 4}};
  EXPECT_THROW(BeladyLines(sizes, 0), std::invalid_argument);
}

RC_GTEST_PROP(Belady, EqualsTheDefinitionLineByLine, ()) {
  const int64_t atoms = between(1, 8);
  std::vector<AtomSize> sizes;
  std::vector<uint64_t> first{0};
  for (int64_t i = 0; i < atoms; ++i) {
    const auto lines = static_cast<uint32_t>(between(1, 6));
    sizes.push_back({lines, 4 * lines});
    first.push_back(first.back() + lines);
  }
  std::mt19937_64 random(static_cast<uint64_t>(between(0, 1 << 30)));
  // One case in ten is long enough for the engine to drop what it no longer needs.
  std::vector<Visited> visits(static_cast<size_t>(between(0, 9) == 0 ? 2500 : between(1, 40)));
  for (Visited& visit : visits) {
    visit.atom = static_cast<AtomId>(random() % static_cast<uint64_t>(atoms));
    visit.times = static_cast<uint32_t>(1 + random() % 4 / 3 * (random() % 3));
  }
  const auto capacity = static_cast<size_t>(between(1, static_cast<int64_t>(first.back()) + 1));

  tests::NaiveSets cache(capacity, 0, SetPolicy::opt, 0);
  const auto for_lines = [&](const Visited& visit, auto function) {
    for (uint32_t time = 0; time < visit.times; ++time) {
      for (uint64_t line = first[visit.atom]; line < first[visit.atom + 1]; ++line) function(line);
    }
  };
  for (const Visited& visit : visits) {
    for_lines(visit, [&](uint64_t line) { cache.future.push_back(line); });
  }
  std::vector<int64_t> expected;
  for (const Visited& visit : visits) {
    int64_t missed = 0;
    for_lines(visit, [&](uint64_t line) {
      if (!cache.access(line, 0, Priority::normal)) ++missed;
      cache.future.erase(cache.future.begin());
    });
    expected.push_back(missed);
  }
  RC_ASSERT(missed_lines(sizes, static_cast<int64_t>(capacity), visits) == expected);
}

int64_t misses(const Prediction& prediction) {
  return *prediction.total.l2_read_miss_sectors + *prediction.total.l2_write_miss_sectors;
}

// Lines of equal cost, for the optimum counts lines: a row is a line, and without the log-sum-exp,
// which the parts of an item write too, all lines are full.
RC_GTEST_PROP(Belady, BoundsEveryReplacementOfTheSameCapacity, ()) {
  Request request = tests::any_request();
  request.schedule.kv_split = 1;
  if (cuts_last_wave(request.schedule)) request.schedule.launch = launch_id<StaticLaunch>;
  request.schedule.prefetch = between(0, 3);
  request.log_sum_exp = false;
  SetsParameters& sets = request.sets;
  sets.policy = static_cast<SetPolicy>(between(0, 4));
  sets.hash = between(0, 1) == 1 ? HashKind::balanced : HashKind::modulo;
  sets.ways = int64_t{1} << between(0, 4);
  request.l2_bytes = between(1, 20) * sets.ways * 128;
  const int64_t least = misses(simulate_opt(request));
  RC_ASSERT(least <= misses(simulate_lru(request)));
  RC_ASSERT(least <= misses(simulate_sets(request)));
}

RC_GTEST_PROP(Belady, LockstepMergedOrNotIsTheSame, ()) {
  Request request = tests::any_request();
  request.l2_bytes = between(1, 400) * 128;
  request.merge_lockstep = true;
  const Prediction merged = simulate_opt(request);
  request.merge_lockstep = false;
  const Prediction single = simulate_opt(request);
  for (size_t t = 0; t < size_t{tensor_count}; ++t) {
    for (const CounterColumn& column : counter_columns) {
      RC_ASSERT((merged.by_tensor[t].*column.member) == (single.by_tensor[t].*column.member));
    }
  }
}

}  // namespace
}  // namespace sawtooth::sim
