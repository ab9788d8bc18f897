// Packed query heads, and pages of keys.
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"
#include "tests/support/brute_force.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth {
namespace {

// Pages of 16 keys: sequence 0 has three, sequence 1 two.
TEST(Pages, AreFoundByTheKeyAndTheSequence) {
  const std::vector<int32_t> table = {7, 2, 5, 0, 9, -1};
  const Pages pages{.rows = 16, .table = table.data(), .stride = 3};
  EXPECT_EQ(pages.page_of(0, 0), 7);
  EXPECT_EQ(pages.page_of(0, 15), 7);
  EXPECT_EQ(pages.page_of(0, 16), 2);
  EXPECT_EQ(pages.page_of(0, 47), 5);
  EXPECT_EQ(pages.page_of(1, 31), 9);
  EXPECT_FALSE(Pages{}.paged());
  EXPECT_EQ(pages_for(0, 16), 0);
  EXPECT_EQ(pages_for(33, 16), 3);
}

TEST(PageOrder, NamesEveryPageOnceAndASeedIsAnOrderOfItsOwn) {
  constexpr int64_t pages = 1000;
  int64_t in_place = 0, as_other_seed = 0;
  std::vector<int> named(pages, 0);
  for (int64_t i = 0; i < pages; ++i) {
    EXPECT_EQ((PageOrder{}.page(i, pages)), i);
    const int64_t page = PageOrder{true, 1}.page(i, pages);
    ++named[size_t(page)];
    in_place += page == i;
    as_other_seed += (page == PageOrder{true, 2}.page(i, pages));
  }
  for (const int count : named) EXPECT_EQ(count, 1);
  // A random permutation leaves one in place, and has one in common with another, in the mean;
  // 12 or more have a probability below 10^-8 (Poisson).
  EXPECT_LT(in_place, 12);
  EXPECT_LT(as_other_seed, 12);
}

// Three heads, two tiles of two positions and a part of a third: rows 0 to 8 are the positions
// 0 0 0 1 1 1 2 2 2, and tiles of four rows have 0 to 1, 1 to 2 and 2.
TEST(Packing, RowsOfAGroupStandAtOnePositionAndATileMayBeginInsideIt) {
  const Problem problem{
      .heads = 6, .kv_heads = 2, .seq_q = 3, .seq_kv = 3, .mask = {MaskKind::causal, 0}};
  const Problem rows = packed(problem);
  const Tiling tiling = packed(Tiling{.q_rows = 4, .kv_rows = 1}, problem);
  EXPECT_EQ(rows.heads, 2);
  EXPECT_EQ(rows.kv_heads, 2);
  ASSERT_EQ(q_tiles(rows, tiling), 3);
  EXPECT_EQ(visible_kv_tiles(rows, tiling, 0), (Range{0, 2}));
  EXPECT_EQ(visible_kv_tiles(rows, tiling, 1), (Range{0, 3}));
  EXPECT_EQ(visible_kv_tiles(rows, tiling, 2), (Range{0, 3}));
  EXPECT_EQ(seeing_q_tiles(rows, tiling, 0), (Range{0, 3}));
  EXPECT_EQ(seeing_q_tiles(rows, tiling, 1), (Range{0, 3}));  // row 3 is position 1
  EXPECT_EQ(seeing_q_tiles(rows, tiling, 2), (Range{1, 3}));
}

// A window of one key, two heads: position p sees key p alone.
TEST(Packing, AWindowMovesWithThePosition) {
  const Problem problem{
      .heads = 2, .kv_heads = 1, .seq_q = 4, .seq_kv = 4, .mask = {MaskKind::window, 1}};
  const Problem rows = packed(problem);
  const Tiling tiling = packed(Tiling{.q_rows = 1, .kv_rows = 1}, problem);
  for (int64_t row = 0; row < 8; ++row)
    EXPECT_EQ(visible_kv_tiles(rows, tiling, row), (Range{row / 2, row / 2 + 1}));
  EXPECT_EQ(visited_kv_tiles(rows, tiling), 8);
}

// The mask of the problem itself, at the position of each row of a tile.
RC_GTEST_PROP(Packing, TilesOfBothSidesAreThosePairsThatSomeHeadOfTheGroupHas, ()) {
  const Problem problem = tests::any_problem();
  const int64_t group = problem.heads_per_kv_head();
  const Problem rows = packed(problem);
  const Tiling tiling = packed(tests::any_tiling(), problem);
  int64_t together = 0;
  for (int64_t q = 0; q < q_tiles(rows, tiling); ++q) {
    const Range visible = visible_kv_tiles(rows, tiling, q);
    together += visible.size();
    for (int64_t kv = 0; kv < kv_tiles(rows, tiling); ++kv) {
      bool sees = false;
      const Range keys = tile_rows(kv, tiling.kv_rows, problem.seq_kv);
      const Range of_tile = tile_rows(q, tiling.q_rows, problem.seq_q * group);
      for (int64_t row = of_tile.begin; row < of_tile.end; ++row)
        for (int64_t key = keys.begin; key < keys.end; ++key)
          sees = sees || tests::sees(problem, row / group, key);
      RC_ASSERT((visible.begin <= kv && kv < visible.end) == sees);
      const Range seeing = seeing_q_tiles(rows, tiling, kv);
      RC_ASSERT((seeing.begin <= q && q < seeing.end) == sees);
    }
  }
  RC_ASSERT(visited_kv_tiles(rows, tiling) == together);
}

}  // namespace
}  // namespace sawtooth
