// The order of a set's lines, traced by hand on one set of two ways.
#include "sim/halves/sampled_sets.hpp"

#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

// Reads a, b, a again, and c, which takes a way; returns whether a is then still there.
bool kept_after_a_hit(double refresh) {
  constexpr AtomId a = 0, b = 1, c = 2;
  SampledSets sets({.halves = 1, .capacity_lines = 2, .ways = 2, .refresh = refresh},
                   std::vector<AtomSize>(3, AtomSize{.lines = 1, .sectors = 4}));
  const auto read = [&](AtomId atom) {
    bool held = false;
    sets.for_pieces(atom, [&](const Piece& piece) {
      held = sets.touch(0, piece, false, [](AtomId, int64_t) { FAIL() << "nothing is dirty"; });
    });
    return held;
  };
  EXPECT_FALSE(read(a));
  EXPECT_FALSE(read(b));
  EXPECT_TRUE(read(a));
  EXPECT_FALSE(read(c));
  return read(a);
}

TEST(SampledSets, AHitKeepsItsLineYoungIfHitsRefresh) {
  EXPECT_TRUE(kept_after_a_hit(1));  // b was older
}

TEST(SampledSets, WhatCameFirstLeavesFirstIfHitsDoNotRefresh) {
  EXPECT_FALSE(kept_after_a_hit(0));
}

}  // namespace
}  // namespace sawtooth::sim
