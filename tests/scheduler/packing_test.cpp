#include "scheduler/packing.hpp"

#include "tests/support/brute_force.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth {
namespace {

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
