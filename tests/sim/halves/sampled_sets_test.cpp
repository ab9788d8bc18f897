// The order of a set's lines and where tensors lie, traced by hand on a few sets.
#include "sim/halves/sampled_sets.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "sim/halves/set_placement.hpp"

namespace sawtooth::sim {
namespace {

struct SetsOf : SampledSets {
  SetsOf(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes)
      : SampledSets(parameters) {
    begin({.sizes = sizes});
  }
};

// Reads the first atom, and again; returns how many of its pieces were there.
std::vector<int> pieces_found(SampledSets& sets) {
  std::vector<int> found;
  for (int time = 0; time < 2; ++time) {
    const PieceMask all = first_pieces(sets.pieces(0));
    found.push_back(std::popcount(sets.touch(
        0, 0, 0, all, Access::read, [](AtomId, int64_t) { FAIL() << "nothing is dirty"; })));
  }
  return found;
}

// Tiles of two lines where a piece stands for 16: eight of them are one piece, which has all of
// their sectors, and together with tiles of 16 lines they fill no more than they are.
TEST(SampledSets, TilesSmallerThanAPieceShareOne) {
  constexpr AtomSize small{.lines = 2, .sectors = 8, .tensor = 1},
      large{.lines = 16, .sectors = 64};
  std::vector<AtomSize> sizes(20, small);
  sizes.push_back(large);
  SetsOf sets({.halves = 2, .capacity_lines = 245760, .ways = 16}, sizes);
  std::vector<uint32_t> pieces;
  int64_t units = 0;
  for (AtomId atom = 0; atom < 20; ++atom) {
    pieces.push_back(sets.pieces(atom));
    if (pieces.back() > 0) units += sets.units(atom, 0, 1);
  }
  EXPECT_EQ(std::accumulate(pieces.begin(), pieces.end(), 0u), 3u);
  EXPECT_EQ(std::accumulate(pieces.begin(), pieces.begin() + 8, 0u), 1u);
  EXPECT_EQ(units, 20 * 8 * units_per_sector);
  EXPECT_EQ(sets.pieces(20), 1u);
}

// Homes take turns along an atom, also past the 64 pieces of a mask, and both have half of them.
TEST(SampledSets, HomesTakeTurns) {
  SetsOf sets({.capacity_lines = 16, .ways = 1}, {AtomSize{.lines = 70, .sectors = 280}});
  ASSERT_EQ(sets.pieces(0), 70);
  const PieceMask of_first = sets.at_home(0, 0, 0);
  EXPECT_EQ(of_first ^ (of_first >> 1), ~PieceMask{0} >> (of_first >> 63 == 0 ? 1 : 0));
  EXPECT_EQ(of_first ^ sets.at_home(0, 0, 1), ~PieceMask{0});
  const PieceMask last_six = first_pieces(6);  // and none past the atom's end
  EXPECT_EQ(sets.at_home(0, 64, 0), of_first & last_six);
  EXPECT_EQ(sets.at_home(0, 64, 0) ^ sets.at_home(0, 64, 1), last_six);
}

// A simulated line of 16,384 sets stands for 16: a tile of 32 lines is two of them, in 32 atoms as
// in one, and together they have the tile's sectors.
TEST(SampledSets, AtomsOfOneTileShareItsPieces) {
  constexpr int lines = 32;
  std::vector<AtomSize> parts(lines, AtomSize{.lines = 1, .sectors = 4, .goes_on = true});
  parts.front().goes_on = false;
  SetsOf sets({.halves = 1, .capacity_lines = 16384 * 16, .ways = 16}, parts);
  int64_t pieces = 0, units = 0;
  for (AtomId atom = 0; atom < lines; ++atom) {
    pieces += sets.pieces(atom);
    units += sets.units(atom, 0, first_pieces(sets.pieces(atom)));
  }
  EXPECT_EQ(pieces, 2);
  EXPECT_EQ(units, lines * 4 * units_per_sector);
}

// An atom of two lines of K and two of V. In one allocation lines that follow each other fill four
// sets of one way once, and all are found again. In allocations of their own K and V begin with the
// same set: they drive each other out of two sets, and the other two stay empty.
TEST(SampledSets, TensorsShareSetsAtEqualOffsets) {
  constexpr AtomSize k_and_v{.lines = 4, .sectors = 16, .tensor = 1, .tensors = 2};
  HalvesParameters parameters{.halves = 1, .capacity_lines = 4, .ways = 1};
  SetsOf apart(parameters, {k_and_v});
  EXPECT_EQ(pieces_found(apart), (std::vector<int>{0, 0}));
  parameters.one_allocation = true;
  SetsOf together(parameters, {k_and_v});
  EXPECT_EQ(pieces_found(together), (std::vector<int>{0, 4}));
}

// Two halves of 32 GiB, tiles of 16,384 lines: one piece stands for a whole tile, of 65,536
// sectors.
TEST(SampledSets, APieceStandsForAllSectorsOfItsTile) {
  SetsOf sets({.capacity_lines = int64_t{1} << 28, .ways = 16},
              {AtomSize{.lines = 16384, .sectors = 65536}});
  ASSERT_EQ(sets.pieces(0), 1);
  EXPECT_EQ(sectors_of(sets.units(0, 0, 1)), 65536);
}

// A tenth of the lines goes anywhere, one in eight of these to where it would have gone: 875 of
// 10,000 lie elsewhere, with a standard deviation of 28.
TEST(SetPlacement, ScattersItsShareOfTheLines) {
  HalvesParameters parameters;
  SetPlacement in_turn(parameters, 8);
  parameters.scattered = 0.1;
  SetPlacement scattered(parameters, 8);
  int elsewhere = 0;
  for (int64_t line = 0; line < 10000; ++line)
    elsewhere += in_turn.set_of(line, 0) != scattered.set_of(line, 0) ? 1 : 0;
  EXPECT_NEAR(elsewhere, 875, 5 * 28);
}

// Lines of two tensors at one offset meet but where either is scattered (19 in 100), and of these
// one in eight meets by chance: 1662 of 10,000 do not, with a standard deviation of 37.
TEST(SetPlacement, ScatteredLinesGoTheirOwnWayInEachTensor) {
  HalvesParameters parameters;
  parameters.scattered = 0.1;
  SetPlacement k(parameters, 8, 1), v(parameters, 8, 2);
  int apart = 0;
  for (int64_t line = 0; line < 10000; ++line)
    apart += k.set_of(line, 0) != v.set_of(line, 0) ? 1 : 0;
  EXPECT_NEAR(apart, 1662, 5 * 37);
}

}  // namespace
}  // namespace sawtooth::sim
