// The order of a set's lines and where tensors lie, traced by hand on a few sets.
#include "sim/halves/sampled_sets.hpp"

#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

// Reads an atom of a clean cache; returns how many of its pieces were there.
int pieces_held(SampledSets& sets, AtomId atom) {
  int held = 0;
  sets.for_pieces(atom, [&](const Piece& piece) {
    const auto evicted = [](AtomId, int64_t) { FAIL() << "nothing is dirty"; };
    held += sets.touch(0, piece, false, evicted) ? 1 : 0;
  });
  return held;
}

// One set of two ways: a, b, a again, and c, which takes the way of b.
TEST(SampledSets, AHitMakesItsLineTheYoungest) {
  constexpr AtomId a = 0, b = 1, c = 2;
  SampledSets sets({.halves = 1, .capacity_lines = 2, .ways = 2},
                   std::vector<AtomSize>(3, AtomSize{.lines = 1, .sectors = 4}));
  EXPECT_EQ(pieces_held(sets, a), 0);
  EXPECT_EQ(pieces_held(sets, b), 0);
  EXPECT_EQ(pieces_held(sets, a), 1);
  EXPECT_EQ(pieces_held(sets, c), 0);
  EXPECT_EQ(pieces_held(sets, a), 1);
  EXPECT_EQ(pieces_held(sets, b), 0);
}

// Four sets of one way and an atom of four lines. Lines that follow each other fill each set once,
// so they are all found again. Two lines of K and two of V do so only if they happen not to meet.
TEST(SampledSets, TensorsFillSetsWithoutRegardForEachOther) {
  constexpr AtomSize k_and_v{.lines = 4, .sectors = 16, .tensor = 1, .tensors = 2};
  int met = 0, apart = 0;
  for (uint64_t pages = 0; pages < 20; ++pages) {
    HalvesParameters parameters{.halves = 1, .capacity_lines = 4, .ways = 1, .pages = pages};
    SampledSets own_pages(parameters, {k_and_v});
    pieces_held(own_pages, 0);
    ++(pieces_held(own_pages, 0) < 4 ? met : apart);
    parameters.one_allocation = true;
    SampledSets together(parameters, {k_and_v});
    pieces_held(together, 0);
    EXPECT_EQ(pieces_held(together, 0), 4);
  }
  EXPECT_GT(met, 0);
  EXPECT_GT(apart, 0);
}

// A tenth of the lines goes anywhere, one in eight of these to where it would have gone: 875 of
// 10,000 lie elsewhere, with a standard deviation of 28.
TEST(SetPlacement, ScattersItsShareOfTheLines) {
  HalvesParameters parameters;
  SetPlacement in_turn(parameters, 8);
  parameters.scattered = 0.1;
  SetPlacement scattered(parameters, 8);
  int elsewhere = 0;
  for (int64_t line = 0; line < 10000; ++line) {
    elsewhere += in_turn.set_of(line, 0) != scattered.set_of(line, 0) ? 1 : 0;
  }
  EXPECT_NEAR(elsewhere, 875, 5 * 28);
}

}  // namespace
}  // namespace sawtooth::sim
