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
