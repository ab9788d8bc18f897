// Belady's optimum on whole tiles against the definition line by line, and against every other
// replacement, which it must bound.
#include <random>

#include "sim/belady/belady_lines.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/naive_sets.hpp"
#include "tests/support/property.hpp"
#include "tests/support/same_predictions.hpp"

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

TEST(Belady, TileLargerThanTheCacheKeepsItsBeginning) {
  // Five lines in three. First 0 1 2 fill, 3 replaces 2, 4 replaces 3: 0 1 4 stay. Second visit: 0
  // 1 hit, and 2 3 replace lines that are not needed again, while 4 stays: 4 hits.
  EXPECT_EQ(missed_lines({{5, 20}}, 3, of_digits("00")), (std::vector<int64_t>{5, 2}));
  // The same as two visits in direct succession.
  EXPECT_EQ(missed_lines({{5, 20}}, 3, {{0, 2}}), (std::vector<int64_t>{7}));
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
    for (uint32_t time = 0; time < visit.times; ++time)
      for (uint64_t line = first[visit.atom]; line < first[visit.atom + 1]; ++line) function(line);
  };
  for (const Visited& visit : visits)
    for_lines(visit, [&](uint64_t line) { cache.future.push_back(line); });
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

RC_GTEST_PROP(Belady, LockstepMergedOrNotIsTheSame, ()) {
  Request request = tests::any_request();
  request.l2_bytes = between(1, 400) * 128;
  request.merge_lockstep = true;
  const Prediction merged = simulate_opt(request);
  request.merge_lockstep = false;
  RC_ASSERT(tests::same_counters(merged, simulate_opt(request)));
}

}  // namespace
}  // namespace sawtooth::sim
