#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace sawtooth::sim {
namespace {

// What is counted must not depend on how many touches came before, nor on the count's being begun
// anew on the way: it is at latest after 20 touches here.
RC_GTEST_PROP(LruSets, UsesAreCountedAnewUnseen, ()) {
  constexpr uint32_t sets = 2, lines = 24;
  std::array<uint16_t, lines> set_of{};
  for (uint32_t line = 0; line < lines; ++line) set_of[line] = line % 3 == 0;
  const auto ways = *rc::gen::inRange<uint32_t>(2, 6);
  const auto dirty_ways = *rc::gen::inRange<uint32_t>(1, ways + 1);
  const auto reduced_sets = *rc::gen::inRange<uint32_t>(0, sets);
  const auto touches_left = *rc::gen::inRange<uint32_t>(1, 20);
  LruSets early(sets, ways, dirty_ways, reduced_sets);
  LruSets late(sets, ways, dirty_ways, reduced_sets,
               std::numeric_limits<uint32_t>::max() - touches_left);
  early.grow(lines);
  late.grow(lines);
  const auto trace = *rc::gen::container<std::vector<std::tuple<uint32_t, PieceMask, int>>>(
      rc::gen::tuple(rc::gen::inRange<uint32_t>(0, lines - 4), rc::gen::inRange<PieceMask>(1, 16),
                     rc::gen::inRange(0, 5)));
  const auto written_back = [](LruSets& of) {
    std::vector<uint32_t> written;
    of.take_written_back([&](uint32_t line) { written.push_back(line); });
    std::sort(written.begin(), written.end());
    return written;
  };
  for (const auto& [first, which, what] : trace) {
    const bool may_change = first < lines / 2;  // the later lines are always clean
    const Access access = !may_change || what > 3 ? Access::read
                          : what == 3             ? Access::reduce
                                                  : Access::write;
    const uint32_t clean = lines - 1 - first % 8;
    if (what == 1) {
      early.drop(set_of.data(), clean);
      late.drop(set_of.data(), clean);
    } else if (what == 2) {
      early.settle(set_of.data());
      late.settle(set_of.data());
    } else {
      RC_ASSERT(early.touch(set_of.data(), first, which, access) ==
                late.touch(set_of.data(), first, which, access));
    }
    RC_ASSERT(written_back(early) == written_back(late));
    for (uint32_t line = 0; line < lines; ++line) RC_ASSERT(early.holds(line) == late.holds(line));
  }
}

// Three ways: a line that is dropped frees its way for the next one, and nothing else leaves.
TEST(LruSets, ADroppedLineLeavesItsWayFree) {
  constexpr std::array<uint16_t, 4> set_of{};
  LruSets sets(1, 3, 3, 0);
  sets.grow(set_of.size());
  for (const uint32_t line : {0, 1, 2}) sets.touch(set_of.data(), line, 1, Access::read);
  sets.drop(set_of.data(), 1);
  EXPECT_FALSE(sets.holds(1));
  sets.touch(set_of.data(), 3, 1, Access::read);
  for (const uint32_t line : {0, 2, 3}) EXPECT_TRUE(sets.holds(line)) << line;
  sets.touch(set_of.data(), 1, 1, Access::read);
  EXPECT_FALSE(sets.holds(0));
}

}  // namespace
}  // namespace sawtooth::sim
