// Argument B of docs/models/exactness.md, condition by condition: which sets count as equal.
#include "sim/sets/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawtooth::sim {
namespace {

using testing::HasSubstr;

std::vector<LineSpan> tiles(uint32_t count, uint32_t lines, uint64_t first = 0) {
  std::vector<LineSpan> spans;
  for (uint32_t i = 0; i < count; ++i) {
    spans.push_back({first + uint64_t{i} * lines, lines, 4 * lines});
  }
  return spans;
}

SetPartition partition(const std::vector<LineSpan>& spans, HashKind kind, int64_t sets,
                       bool by_lines = false) {
  SetsParameters parameters;
  parameters.hash = kind;
  return SetPartition(spans, SetHash(parameters, sets), 128, by_lines, "of a test");
}

TEST(SetPartition, TilesThatDivideTheSetsStandForTheirLines) {
  // 64-line tiles on 256 sets, modulo: tile i fills sets 64 (i mod 4) and on. Four groups.
  const SetPartition sets = partition(tiles(100, 64), HashKind::modulo, 256);
  EXPECT_TRUE(sets.whole_atoms());
  EXPECT_EQ(sets.description(), "tile-granular, 4 groups of sets");
  EXPECT_EQ(sets.parts()[5].sectors, 256u);
  EXPECT_EQ(sets.parts()[5].set_class, sets.parts()[1].set_class);
  EXPECT_NE(sets.parts()[5].set_class, sets.parts()[2].set_class);
}

TEST(SetPartition, LinearHashOfAlignedTilesIsTileGranular) {
  // Inside an aligned tile the upper bits do not change, so the fold permutes 64 sets.
  const SetPartition sets = partition(tiles(1000, 64), HashKind::exclusive_or, 256);
  EXPECT_EQ(sets.description(), "tile-granular, 4 groups of sets");
}

TEST(SetPartition, ModuloNinetySixSplitsTilesOfSixtyFour) {
  // Tiles cover 0-63, 64-95 and 0-31, 32-95: their borders cut the sets into three groups of 32.
  const SetPartition sets = partition(tiles(3, 64), HashKind::modulo, 96);
  EXPECT_FALSE(sets.whole_atoms());
  EXPECT_EQ(sets.parts().size(), 6u);
  EXPECT_EQ(sets.description(), "split: tiles of 64 lines into 2 parts, 3 groups of sets");
}

TEST(SetPartition, OneTileThatStartsElsewhereSplitsTheOthers) {
  std::vector<LineSpan> spans = tiles(8, 64);
  ASSERT_TRUE(partition(spans, HashKind::modulo, 256).whole_atoms());
  spans.push_back({8 * 64 + 16, 64, 256});  // sets 16-79: cuts 0-63 into 16 and 48, 64-127 likewise
  const SetPartition sets = partition(spans, HashKind::modulo, 256);
  EXPECT_FALSE(sets.whole_atoms());
  EXPECT_THAT(sets.description(), HasSubstr("6 groups"));
}

TEST(SetPartition, RaggedTileHasItsLinesAndSectorsOnly) {
  // 10 lines of which the last has one sector: sets 64-73 leave their group.
  std::vector<LineSpan> spans = tiles(1, 64);
  spans.push_back({64, 10, 37});
  spans.push_back({128 + 64, 64, 256});
  const SetPartition sets = partition(spans, HashKind::modulo, 128);
  ASSERT_EQ(sets.parts().size(), 4u);
  EXPECT_EQ(sets.parts()[sets.first_part(1)].sectors, 37u);
  EXPECT_EQ(sets.parts()[2].sectors + sets.parts()[3].sectors, 256u);
}

TEST(SetPartition, TileLargerThanAllSetsMeetsItselfAndIsStillOneClass) {
  // 64 lines on 16 sets: four lines in each set, one class, four parts of 16 lines.
  const SetPartition sets = partition(tiles(2, 64), HashKind::modulo, 16);
  EXPECT_FALSE(sets.one_line_a_set(0));
  EXPECT_EQ(sets.parts().size(), 8u);
  EXPECT_EQ(sets.parts()[0].sectors, 64u);
  EXPECT_EQ(sets.description(), "split: tiles of 64 lines into 4 parts, 1 groups of sets");
}

TEST(SetPartition, BalancedHashKeepsChunksOfThirtyTwoLines) {
  const SetPartition sets = partition(tiles(2000, 64), HashKind::balanced, 960);
  EXPECT_EQ(sets.description(), "split: tiles of 64 lines into 2 parts, 30 groups of sets");
}

TEST(SetPartition, HashThatSpreadsTilesFallsBackToLines) {
  // 7 sets are prime: tiles of 2 start everywhere, and no two sets see the same tiles.
  const SetPartition sets = partition(tiles(20, 2), HashKind::modulo, 7);
  EXPECT_EQ(sets.description(), "line by line, because no two sets see the same tiles");
  EXPECT_EQ(sets.parts().size(), 40u);
}

TEST(SetPartition, LinesByRequestSaysWhy) {
  const SetPartition sets = partition(tiles(4, 64), HashKind::modulo, 256, true);
  EXPECT_EQ(sets.description(), "line by line, because of a test");
  EXPECT_EQ(sets.classes(), 256u);
}

}  // namespace
}  // namespace sawtooth::sim
