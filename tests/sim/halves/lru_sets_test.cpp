#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace sawtooth::sim {
namespace {

// What is counted must not depend on how many touches came before, nor on the count's being begun
// anew on the way: it is at latest after 200 touches here, some of them 30 hits of a kind.
RC_GTEST_PROP(LruSets, UsesAreCountedAnewUnseen, ()) {
  constexpr uint32_t sets = 2, lines = 24;
  LineSets set_of(sets);
  for (uint32_t line = 0; line < lines; ++line) set_of.place(line, line % 3 == 0);
  const auto ways = *rc::gen::inRange<uint32_t>(2, 6);
  const auto dirty_ways = *rc::gen::inRange<uint32_t>(1, ways + 1);
  const auto reduced_sets = *rc::gen::inRange<uint32_t>(0, sets);
  const auto uses_left = *rc::gen::inRange<uint32_t>(1, 200);
  LruSets early(sets, ways, dirty_ways, reduced_sets);
  LruSets late(sets, ways, dirty_ways, reduced_sets, LruSets::most_uses - uses_left);
  early.grow(lines);
  late.grow(lines);
  const auto trace = *rc::gen::container<std::vector<std::tuple<uint32_t, PieceMask, int, int>>>(
      rc::gen::tuple(rc::gen::inRange<uint32_t>(0, lines - 4), rc::gen::inRange<PieceMask>(1, 16),
                     rc::gen::inRange(0, 5), rc::gen::element(1, 1, 30)));
  const auto written_back = [](LruSets& of) {
    std::vector<uint32_t> written;
    of.take_written_back([&](uint32_t line) { written.push_back(line); });
    std::sort(written.begin(), written.end());
    return written;
  };
  for (const auto& [first, which, what, times] : trace) {
    const bool may_change = first < lines / 2;  // the later lines are always clean
    const Access access = !may_change || what > 3 ? Access::read
                          : what == 3             ? Access::reduce
                                                  : Access::write;
    const uint32_t clean = lines - 1 - first % 8;
    if (what == 1) {
      early.drop(set_of, clean);
      late.drop(set_of, clean);
    } else if (what == 2) {
      early.settle(set_of);
      late.settle(set_of);
    } else {
      for (int i = 0; i < times; ++i)
        RC_ASSERT(early.touch(set_of, first, which, access) ==
                  late.touch(set_of, first, which, access));
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

// Up to 64 neighbours at a time, and up to 40 hits between two touches that may miss: those that
// wait to be entered, and those that are only written down.
RC_GTEST_PROP(LruSets, HoldAndWriteBackWhatListsDo, ()) {
  constexpr uint32_t sets = 7, lines = 200;
  LineSets set_of(sets);
  for (uint32_t line = 0; line < lines; ++line)
    set_of.place(line, *rc::gen::inRange<uint16_t>(0, sets));
  const auto ways = *rc::gen::inRange<uint32_t>(2, 20);
  const auto dirty_ways = *rc::gen::inRange<uint32_t>(1, ways + 1);
  const auto reduced_sets = *rc::gen::inRange<uint32_t>(0, sets);
  LruSets tested(sets, ways, dirty_ways, reduced_sets);
  tested.grow(lines);
  std::array<ListedSet, sets> listed;
  const auto touch = [&](uint32_t first, PieceMask which, Access access) {
    PieceMask held = 0;
    for_each_piece(which, [&](uint32_t i) {
      const uint32_t set = set_of.of(first + i);
      const bool was_there = listed[set].touch(first + i, ways - (set < reduced_sets), access);
      listed[set].clean(dirty_ways);
      held |= PieceMask{was_there} << i;
    });
    RC_ASSERT(tested.touch(set_of, first, which, access) == held);
  };
  const auto is_clean = [&](uint32_t line) {
    ListedSet& set = listed[set_of.of(line)];
    const auto at = set.find(line);
    return at != set.lines.end() && at->changed == Access::read;
  };
  const auto touches =
      *rc::gen::container<std::vector<std::tuple<uint32_t, PieceMask, int, int>>>(rc::gen::tuple(
          rc::gen::inRange<uint32_t>(0, lines - pieces_a_mask), rc::gen::arbitrary<PieceMask>(),
          rc::gen::inRange(0, 6), rc::gen::element(0, 3, 40)));
  for (const auto& [first, which, what, hits] : touches) {
    touch(first, which, what == 0 ? Access::write : what == 1 ? Access::reduce : Access::read);
    for (uint32_t line = 0; line < lines; ++line) {
      ListedSet& set = listed[set_of.of(line)];
      RC_ASSERT(tested.holds(line) == (set.find(line) != set.lines.end()));
    }
    for (int hit = 0; hit < hits; ++hit) {
      PieceMask clean = 0;
      for (uint32_t i = 0; i < pieces_a_mask; ++i) clean |= PieceMask{is_clean(first + i)} << i;
      touch(first,
            hit % 2 == 0 ? clean & std::rotl(which, hit)
                         : first_pieces(static_cast<uint32_t>(std::countr_one(clean))),
            Access::read);
    }
    if (what == 2 && is_clean(first)) {
      tested.drop(set_of, first);
      ListedSet& set = listed[set_of.of(first)];
      set.lines.erase(set.find(first));
    }
  }
  tested.settle(set_of);
  std::vector<uint32_t> written, expected;
  tested.take_written_back([&](uint32_t line) { written.push_back(line); });
  for (const ListedSet& set : listed)
    expected.insert(expected.end(), set.written.begin(), set.written.end());
  std::sort(written.begin(), written.end());
  std::sort(expected.begin(), expected.end());
  RC_ASSERT(written == expected);
}

// Three lines of a set, of which the two youngest may be dirty. The hits that make the written one
// old come behind so many of a line of another set that no list has them.
TEST(LruSets, ALineThatGrewOldBehindManyHitsIsWrittenBack) {
  LineSets set_of(2);
  for (uint32_t line = 0; line < 4; ++line) set_of.place(line, line == 3);
  LruSets sets(2, 3, 2, 0);
  sets.grow(set_of.lines());
  for (const uint32_t line : {1, 2, 3}) sets.touch(set_of, line, 1, Access::read);
  sets.touch(set_of, 0, 1, Access::write);
  for (int hit = 0; hit < 100; ++hit) sets.touch(set_of, 3, 1, Access::read);
  for (const uint32_t line : {1, 2}) sets.touch(set_of, line, 1, Access::read);
  sets.touch(set_of, 0, 1, Access::write);
  std::vector<uint32_t> written;
  sets.take_written_back([&](uint32_t line) { written.push_back(line); });
  EXPECT_EQ(written, std::vector<uint32_t>{0});
}

// Three ways: a line that is dropped frees its way for the next one, and nothing else leaves.
TEST(LruSets, ADroppedLineLeavesItsWayFree) {
  LineSets set_of(1);
  for (uint32_t line = 0; line < 4; ++line) set_of.place(line, 0);
  LruSets sets(1, 3, 3, 0);
  sets.grow(set_of.lines());
  for (const uint32_t line : {0, 1, 2}) sets.touch(set_of, line, 1, Access::read);
  sets.drop(set_of, 1);
  EXPECT_FALSE(sets.holds(1));
  sets.touch(set_of, 3, 1, Access::read);
  for (const uint32_t line : {0, 2, 3}) EXPECT_TRUE(sets.holds(line)) << line;
  sets.touch(set_of, 1, 1, Access::read);
  EXPECT_FALSE(sets.holds(0));
}

}  // namespace
}  // namespace sawtooth::sim
