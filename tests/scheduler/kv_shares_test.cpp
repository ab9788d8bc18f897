// How many workers share the K/V work of equal units.
#include "scheduler/kv_shares.hpp"

#include <gtest/gtest.h>

namespace sawtooth {
namespace {

// 8 x 256 tiles: 132 workers have 15 or 16, 128 have 16 each; both merge.
TEST(WorkersFor, AreAFewLessWhereSharesThenAreEqual) {
  EXPECT_EQ(workers_for(8, 256, 132), 128);
}

// 256 units for 128 workers are two each, and nothing is merged; 132 would cut most of them.
TEST(WorkersFor, AreAFewLessWhereUnitsThenAreWhole) {
  EXPECT_EQ(workers_for(256, 256, 132), 128);
}

// 132 units: one each.
TEST(WorkersFor, AreAllWhereUnitsAreWholeAnyway) {
  EXPECT_EQ(workers_for(132, 50, 132), 132);
  EXPECT_EQ(workers_for(264, 50, 132), 132);
}

// 64 units for 132 workers: 64 would do without a merge, but leave half of the GPU idle.
TEST(WorkersFor, AreNeverLessThan95Percent) {
  for (int64_t units = 1; units <= 300; ++units)
    for (const int64_t tiles : {1, 7, 64, 1000}) {
      const int64_t workers = workers_for(units, tiles, 132);
      EXPECT_GE(workers, 126) << units << " x " << tiles;  // 95 % of 132 are 125.4
      EXPECT_LE(workers, 132) << units << " x " << tiles;
    }
  EXPECT_EQ(workers_for(5, 3, 1), 1);
}

}  // namespace
}  // namespace sawtooth
