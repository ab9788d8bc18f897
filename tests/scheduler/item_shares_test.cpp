// Equal shares of all K/V work: every tile once, by hand and for any items.
#include "scheduler/item_shares.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/kv_shares.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"
#include "tests/support/serving.hpp"

namespace sawtooth {
namespace {

TEST(WorkersFor, AreAFewLessWhereSharesThenAreEqualOrWhole) {
  // 8 x 256 tiles: 132 workers have 15 or 16, 128 have 16 each; both merge.
  EXPECT_EQ(workers_for(8, 256, 132, 2), 128);
  // 256 units for 128 workers are two each, and nothing is merged; 132 would cut most of them.
  EXPECT_EQ(workers_for(256, 256, 132, 2), 128);
  // 132 units: one each.
  EXPECT_EQ(workers_for(132, 50, 132, 2), 132);
  EXPECT_EQ(workers_for(264, 50, 132, 2), 132);
}

// 64 units for 132 workers: 64 would do without a merge, but leave half of the GPU idle.
TEST(WorkersFor, AreNeverLessThan95Percent) {
  for (int64_t units = 1; units <= 300; ++units)
    for (const int64_t tiles : {1, 7, 64, 1000}) {
      const int64_t workers = workers_for(units, tiles, 132, 2);
      EXPECT_GE(workers, 126) << units << " x " << tiles;  // 95 % of 132 are 125.4
      EXPECT_LE(workers, 132) << units << " x " << tiles;
    }
  EXPECT_EQ(workers_for(5, 3, 1, 2), 1);
}

// Items of 5, 1, 0 and 6 tiles, 3 workers: 12 tiles, shares [0, 4) [4, 8) [8, 12). Item 0 has tiles
// 0 to 4 of the row, item 1 tile 5, item 2 none, item 3 tiles 6 to 11.
TEST(ItemShares, CutFourItemsForThreeWorkersAsWorkedOutByHand) {
  const std::vector<int64_t> before = {0, 5, 6, 6, 12};
  const ItemShares shares(before.data(), 4, 3);
  ASSERT_EQ(shares.row().count(), 3);
  EXPECT_EQ(shares.items_of(0), (Range{0, 1}));
  EXPECT_EQ(shares.items_of(1), (Range{0, 4}));
  EXPECT_EQ(shares.items_of(2), (Range{3, 4}));
  EXPECT_EQ(shares.positions(0, 0), (Range{0, 4}));
  EXPECT_EQ(shares.positions(1, 0), (Range{4, 5}));
  EXPECT_EQ(shares.positions(1, 1), (Range{0, 1}));
  EXPECT_TRUE(shares.positions(1, 2).empty());
  EXPECT_EQ(shares.positions(1, 3), (Range{0, 2}));
  EXPECT_EQ(shares.positions(2, 3), (Range{2, 6}));
  EXPECT_EQ(shares.pieces(0, 0), (Pieces{0, 2, 0}));
  EXPECT_EQ(shares.pieces(1, 0), (Pieces{0, 2, 1}));
  EXPECT_EQ(shares.pieces(1, 1), Pieces{});
  EXPECT_EQ(shares.pieces(1, 2), Pieces{});
  EXPECT_EQ(shares.pieces(1, 3), (Pieces{2, 2, 2}));
  EXPECT_EQ(shares.pieces(2, 3), (Pieces{2, 2, 3}));
}

// One sequence of 3 queries without a key: three items, a tile of the row each.
TEST(ItemShares, GiveAnItemThatScansNothingOneTile) {
  const Problem problem{.batch = 2, .seq_q = 3, .seq_kv = 4};
  const Tiling tiling{1, 1};
  const std::vector<SequenceLengths> lengths = {{3, 0}, {1, 4}};
  const Sequences sequences{.lengths = lengths.data()};
  std::vector<int64_t> before(7);
  EXPECT_EQ(tests::fill_tiles_before(problem, tiling, Schedule{}, sequences, 6, before.data()), 7);
  EXPECT_EQ(before, (std::vector<int64_t>{0, 1, 2, 3, 7, 7, 7}));
}

RC_GTEST_PROP(ItemShares, HaveEveryTileOnceEveryItemAndEquallyManyTiles, ()) {
  const int64_t items = tests::between(1, 40), workers = tests::between(1, 30);
  std::vector<int64_t> before{0};
  for (int64_t i = 0; i < items; ++i)
    before.push_back(before.back() + (tests::between(0, 3) == 0 ? 0 : tests::between(0, 50)));
  if (before.back() == 0) ++before.back();
  const ItemShares shares(before.data(), items, workers);
  const int64_t count = shares.row().count();
  RC_ASSERT(count <= workers);
  std::map<int64_t, std::vector<Range>> of_item;
  std::map<int64_t, std::vector<Pieces>> pieces;
  int64_t least = before.back(), most = 0;
  for (int64_t share = 0; share < count + 3; ++share) {
    const Range own = shares.items_of(share);
    RC_ASSERT(share < count || own.empty());
    int64_t tiles = 0;
    for (int64_t item = own.begin; item < own.end; ++item) {
      const Range positions = shares.positions(share, item);
      const bool has_tiles = before[size_t(item)] < before[size_t(item) + 1];
      RC_ASSERT(positions.empty() == !has_tiles);
      of_item[item].push_back(positions);
      pieces[item].push_back(shares.pieces(share, item));
      tiles += positions.size();
    }
    if (share >= count) continue;
    least = std::min(least, tiles);
    most = std::max(most, tiles);
  }
  RC_ASSERT(most - least <= 1);
  std::set<int64_t> numbers;
  for (int64_t item = 0; item < items; ++item) {
    const std::vector<Range>& ranges = of_item[item];
    const std::vector<Pieces>& own = pieces[item];
    RC_ASSERT(!ranges.empty());
    int64_t next = 0;
    for (const Range& range : ranges) {
      if (range.empty()) continue;
      RC_ASSERT(range.begin == next);
      next = range.end;
    }
    RC_ASSERT(next == before[size_t(item) + 1] - before[size_t(item)]);
    if (ranges.size() == 1) {
      RC_ASSERT(own.front() == Pieces{});
      continue;
    }
    for (size_t i = 0; i < own.size(); ++i) {
      RC_ASSERT(own[i].count == int64_t(own.size()));
      RC_ASSERT(own[i].first == own.front().own);
      RC_ASSERT(own[i].own == own[i].first + int64_t(i));
      RC_ASSERT(own[i].own < shares.most_pieces());
      RC_ASSERT(numbers.insert(own[i].own).second);
    }
  }
}

RC_GTEST_PROP(ItemShares, OfAScheduleHaveTheVisibleTilesOfItsItems, ()) {
  const Problem problem = tests::any_problem();
  const Tiling tiling = tests::any_tiling();
  Schedule schedule = tests::any_schedule(problem);
  schedule.loop = Loop::kv_inner;
  schedule.kv_split = 1;
  schedule.launch = launch_id<StaticLaunch>;
  std::vector<SequenceLengths> lengths;
  for (int64_t b = 0; b < problem.batch; ++b)
    lengths.push_back({tests::between(0, problem.seq_q), tests::between(0, problem.seq_kv)});
  const Sequences sequences{.lengths = lengths.data(), .order = nullptr};
  const int64_t items = item_count(problem, tiling, schedule);
  std::vector<int64_t> before(size_t(items) + 1);
  const int64_t tiles =
      tests::fill_tiles_before(problem, tiling, schedule, sequences, items, before.data());
  const ItemShares shares(before.data(), items, schedule.workers);
  RC_ASSERT(tiles == shares.tiles());
  std::map<int64_t, int64_t> seen;
  for (int64_t share = 0; share < shares.row().count(); ++share) {
    const Range own = shares.items_of(share);
    for (int64_t i = own.begin; i < own.end; ++i) {
      const Item whole = item_at(problem, tiling, schedule, sequences, i);
      const Item piece = cut_to_share(whole, shares, share);
      RC_ASSERT(intersection(piece.scanned, whole.scanned).size() == piece.scanned.size());
      seen[i] += piece.scanned.size();
    }
  }
  for (int64_t i = 0; i < items; ++i)
    RC_ASSERT(seen[i] == item_at(problem, tiling, schedule, sequences, i).scanned.size());
}

}  // namespace
}  // namespace sawtooth
