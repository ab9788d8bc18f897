// Argument B of docs/models/exactness.md, condition by condition: which sets count as equal.
#include "sim/sets/partition.hpp"

#include <set>

#include <gmock/gmock.h>

#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using testing::HasSubstr;
using tests::between;

std::vector<LineSpan> tiles(uint32_t count, uint32_t lines, uint64_t first = 0) {
  std::vector<LineSpan> spans;
  for (uint32_t i = 0; i < count; ++i)
    spans.push_back({first + uint64_t{i} * lines, lines, 4 * lines});
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

TEST(SetPartition, RaggedTileHasItsLinesAndSectorsOnly) {
  // 10 lines of which the last has one sector: sets 64-73 leave their group.
  std::vector<LineSpan> spans = tiles(1, 64);
  spans.push_back({64, 10, 37});
  spans.push_back({128 + 64, 64, 256});
  const SetPartition sets = partition(spans, HashKind::modulo, 128);
  ASSERT_EQ(sets.parts().size(), 4u);
  EXPECT_EQ(sets.parts()[sets.parts_of(1).begin].sectors, 37u);
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

// Two sets are one class where every atom has equally many lines in both.
RC_GTEST_PROP(SetPartition, ClassesAreTheSetsThatEveryAtomTouchesAlike, ()) {
  SetsParameters parameters;
  parameters.hash = static_cast<HashKind>(between(0, 2));
  const int64_t alignment = int64_t{1} << between(0, 6);
  const bool power_of_two = parameters.hash == HashKind::exclusive_or || between(0, 1) == 1;
  const int64_t sets = power_of_two ? int64_t{1} << between(0, 8) : between(1, 200);
  std::vector<LineSpan> spans;
  for (int64_t i = between(1, 40); i > 0; --i) {
    const bool aligned = between(0, 20) > 0;
    const int64_t unit = aligned ? alignment : 1;
    const auto lines = static_cast<uint32_t>(unit * between(1, 3));
    spans.push_back({static_cast<uint64_t>(unit * between(0, 1000)), lines, 4 * lines});
  }
  const SetHash hash(parameters, sets);
  std::vector<std::vector<int>> touched(static_cast<size_t>(sets), std::vector<int>(spans.size()));
  for (size_t atom = 0; atom < spans.size(); ++atom)
    for (uint32_t i = 0; i < spans[atom].lines; ++i)
      ++touched[hash.set_of(spans[atom].first + i)][atom];
  const std::set<std::vector<int>> different(touched.begin(), touched.end());
  RC_ASSERT(SetPartition(spans, hash, 128, false, "").classes() == different.size());
}

TEST(SetPartition, AtomsThatArePlacedAnewHaveThePartsOfTheirNewPlace) {
  // 96 sets, three groups of 32; a tile of 32 lines is one part, of 64 two, from set 32 on of the
  // groups 1 and 2.
  SetsParameters parameters;
  parameters.hash = HashKind::modulo;
  SetPartition sets(SetHash(parameters, 96), 128, false, "");
  const LineSpan small{0, 32, 128}, other{64, 32, 128}, large{32, 64, 256};
  for (const LineSpan& span : {small, other, large}) sets.tell_apart({&span, 1});
  sets.place(0, {&small, 1});
  sets.place(1, {&other, 1});
  EXPECT_TRUE(sets.whole_atoms());
  const auto classes_of = [&](AtomId atom) {
    std::vector<uint32_t> classes;
    for (uint32_t part = sets.parts_of(atom).begin; part < sets.parts_of(atom).end; ++part)
      classes.push_back(sets.parts()[part].set_class);
    return classes;
  };
  const std::vector<uint32_t> first = classes_of(0), last = classes_of(1);
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(last.size(), 1u);
  const uint32_t middle = 3 - first[0] - last[0];  // of the classes 0, 1 and 2
  sets.place(0, {&large, 1});
  EXPECT_FALSE(sets.whole_atoms());
  EXPECT_THAT(classes_of(0), testing::ElementsAre(middle, last[0]));
  EXPECT_EQ(classes_of(1), last);
  const size_t numbers = sets.parts().size();
  sets.place(0, {&small, 1});
  EXPECT_EQ(classes_of(0), first);
  sets.place(0, {&large, 1});
  EXPECT_EQ(sets.parts().size(), numbers);  // those it had
}

}  // namespace
}  // namespace sawtooth::sim
