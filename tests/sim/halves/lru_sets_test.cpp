#include "sim/halves/lru_sets.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim/halves/streams.hpp"
#include "tests/support/two_halves_line_engine.hpp"

namespace sawtooth::sim {
namespace {

std::vector<VectorPath> paths() {
  std::vector<VectorPath> runnable;
  for (const VectorPath path : {VectorPath::scalar, VectorPath::avx2, VectorPath::avx512})
    if (vector_path_available(path)) runnable.push_back(path);
  return runnable;
}

// Up to 64 neighbours at a time, the first ones in a row or any, in sets of up to 20 ways: those
// of more than 16 have no vectors. All paths that this CPU can run do the same.
RC_GTEST_PROP(LruSets, HoldAndWriteBackWhatListsDo, ()) {
  constexpr uint32_t sets = 7, lines = 200;
  LineSets set_of(sets);
  for (uint32_t line = 0; line < lines; ++line)
    set_of.place(line, *rc::gen::inRange<uint16_t>(0, sets));
  const auto ways = *rc::gen::element<uint32_t>(2, 3, 5, 8, 15, 16, 17, 20);
  const auto dirty_ways = *rc::gen::inRange<uint32_t>(1, ways + 1);
  const auto reduced_sets = *rc::gen::inRange<uint32_t>(0, sets + 1);
  std::vector<LruSets> tested;
  for (const VectorPath path : paths()) {
    tested.emplace_back(sets, ways, dirty_ways, reduced_sets, path);
    tested.back().grow(lines);
  }
  std::array<ListedSet, sets> listed;
  const auto touch = [&](uint32_t first, PieceMask which, Access access) {
    PieceMask held = 0;
    for_each_piece(which, [&](uint32_t i) {
      const uint32_t set = set_of.of(first + i);
      const bool was_there = listed[set].touch(first + i, ways - (set < reduced_sets), access);
      listed[set].clean(dirty_ways);
      held |= PieceMask{was_there} << i;
    });
    for (LruSets& of : tested) RC_ASSERT(of.touch(set_of, first, which, access) == held);
  };
  const auto touches =
      *rc::gen::container<std::vector<std::tuple<uint32_t, PieceMask, int, uint32_t>>>(
          rc::gen::tuple(rc::gen::inRange<uint32_t>(0, lines - pieces_a_mask),
                         rc::gen::arbitrary<PieceMask>(), rc::gen::inRange(0, 9),
                         rc::gen::inRange<uint32_t>(0, 65)));
  for (const auto& [first, any, what, count] : touches) {
    const PieceMask which = what < 3 ? any : first_pieces(count);
    const Access access = what == 0 || what == 3   ? Access::write
                          : what == 1 || what == 4 ? Access::reduce
                                                   : Access::read;
    if (what < 7) {
      touch(first, which, access);
      // What stays as it is, a line at a time and all at once.
      touch(first, which & any, access);
      touch(first, which, access);
    } else if (what == 7) {  // whether it is held or not, clean or dirty
      listed[set_of.of(first)].drop(first);
      for (LruSets& of : tested) of.drop(set_of, first);
    } else {
      for (LruSets& of : tested) of.settle(set_of);
    }
    for (uint32_t line = 0; line < lines; ++line)
      for (const LruSets& of : tested)
        RC_ASSERT(of.holds(set_of, line) == listed[set_of.of(line)].holds(line));
  }
  std::vector<int64_t> expected;
  for (const ListedSet& set : listed)
    expected.insert(expected.end(), set.written.begin(), set.written.end());
  std::sort(expected.begin(), expected.end());
  for (LruSets& of : tested) {
    of.settle(set_of);
    std::vector<int64_t> written;
    of.take_written_back([&](uint32_t line) { written.push_back(line); });
    std::sort(written.begin(), written.end());
    RC_ASSERT(written == expected);
  }
}

// With sets and skews off: same keeps 4/3 of a half's lines (half of the lines live twice) and
// the linear pass over a buffer beyond that misses everything.
TEST(Streams, SharpHalvesHaveTheCliffOfTheClosedForm) {
  HalvesParameters parameters;
  parameters.capacity_lines = int64_t{30} << 13;
  const auto dram = [&](StreamMap map, bool reversed, int64_t mib) {
    const auto second = simulate_stream({map, reversed, mib << 20}, {}, parameters).second;
    return double(*second.dram_read_sectors) / (double(mib) * 32768);
  };
  EXPECT_EQ(dram(StreamMap::all, false, 30), 0);
  EXPECT_EQ(dram(StreamMap::all, false, 31), 1);
  EXPECT_NEAR(dram(StreamMap::all, true, 60), 0.5, 0.001);
  EXPECT_EQ(dram(StreamMap::same, false, 39), 0);
  EXPECT_NEAR(dram(StreamMap::same, true, 80), 0.5, 0.01);
}

TEST(Streams, AnEmptyBufferIsRefused) {
  EXPECT_THROW(simulate_stream({}, {}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
