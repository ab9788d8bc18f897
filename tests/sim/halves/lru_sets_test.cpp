#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

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

// A set as a list of its lines, the youngest first. A dirty line is written back as soon as it is
// old, or leaves; one that was last reduced when it would leave: the oldest line that is not dirty
// from a reduction leaves in its place.
class ListedSet {
 public:
  struct Line {
    uint32_t number;
    Access changed;  // read: it is clean
  };

  // Returns whether the line was there.
  bool touch(uint32_t number, uint32_t ways, Access access) {
    Line line{number, Access::read};
    const auto at = find(number);
    const bool held = at != lines.end();
    if (held) {
      line = *at;
      lines.erase(at);
    } else if (lines.size() == ways) {
      auto leaves = lines.end() - 1;
      while (leaves != lines.begin() && leaves->changed == Access::reduce) --leaves;
      if (leaves->changed == Access::reduce) leaves = lines.end() - 1;
      for (auto older = leaves; older != lines.end(); ++older) {
        if (older->changed != Access::read) written.push_back(older->number);
        older->changed = Access::read;
      }
      lines.erase(leaves);
    }
    if (changes(access)) line.changed = access;
    lines.push_front(line);
    return held;
  }
  void clean(uint32_t dirty_ways) {
    for (uint32_t age = dirty_ways; age < lines.size(); ++age) {
      if (lines[age].changed != Access::write) continue;
      lines[age].changed = Access::read;
      written.push_back(lines[age].number);
    }
  }
  std::deque<Line>::iterator find(uint32_t number) {
    return std::find_if(lines.begin(), lines.end(),
                        [&](const Line& line) { return line.number == number; });
  }

  std::deque<Line> lines;
  std::vector<uint32_t> written;
};

// Up to 64 neighbours at a time, across the words that hold their marks.
RC_GTEST_PROP(LruSets, HoldAndWriteBackWhatListsDo, ()) {
  constexpr uint32_t sets = 7, lines = 200;
  std::array<uint16_t, lines> set_of{};
  for (uint16_t& set : set_of) set = *rc::gen::inRange<uint16_t>(0, sets);
  const auto ways = *rc::gen::inRange<uint32_t>(2, 20);
  const auto dirty_ways = *rc::gen::inRange<uint32_t>(1, ways + 1);
  const auto reduced_sets = *rc::gen::inRange<uint32_t>(0, sets);
  LruSets tested(sets, ways, dirty_ways, reduced_sets);
  tested.grow(lines);
  std::array<ListedSet, sets> listed;
  const auto touches = *rc::gen::container<std::vector<std::tuple<uint32_t, PieceMask, int>>>(
      rc::gen::tuple(rc::gen::inRange<uint32_t>(0, lines - pieces_a_mask),
                     rc::gen::arbitrary<PieceMask>(), rc::gen::inRange(0, 8)));
  for (const auto& [first, which, what] : touches) {
    const Access access = what == 0 ? Access::write : what == 1 ? Access::reduce : Access::read;
    PieceMask held = 0;
    for_each_piece(which, [&, begin = first](uint32_t i) {
      const uint32_t set = set_of[begin + i];
      const bool was_there = listed[set].touch(begin + i, ways - (set < reduced_sets), access);
      listed[set].clean(dirty_ways);
      held |= PieceMask{was_there} << i;
    });
    RC_ASSERT(tested.touch(set_of.data(), first, which, access) == held);
    for (uint32_t line = 0; line < lines; ++line) {
      ListedSet& set = listed[set_of[line]];
      RC_ASSERT(tested.holds(line) == (set.find(line) != set.lines.end()));
    }
  }
  tested.settle(set_of.data());
  std::vector<uint32_t> written, expected;
  tested.take_written_back([&](uint32_t line) { written.push_back(line); });
  for (const ListedSet& set : listed)
    expected.insert(expected.end(), set.written.begin(), set.written.end());
  std::sort(written.begin(), written.end());
  std::sort(expected.begin(), expected.end());
  RC_ASSERT(written == expected);
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
