// The shares of the last wave: every K/V tile once, equal work, numbers without gaps.
#include "scheduler/last_wave.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/schedule.hpp"

namespace sawtooth {
namespace {

// 7 items of 4 tiles, 5 workers: the first 5 items are whole, items 5 and 6 have 8 tiles in a row.
// Shares begin at tile floor(8 j / 5) = 0, 1, 3, 4, 6 (and 8): [0] [1 2] [3] | [4 5] [6 7]: none
// crosses, so second places are empty.
TEST(LastWave, CutsTwoItemsOfFourTilesForFiveWorkersAsWorkedOutByHand) {
  const LastWave wave(7, 4, 5);
  EXPECT_FALSE(wave.cuts(4));
  EXPECT_TRUE(wave.cuts(5));
  EXPECT_EQ(wave.places(), 15);
  EXPECT_EQ(wave.most_pieces(), 7);
  const std::vector<Range> tiles = {{0, 1}, {1, 3}, {3, 4}, {0, 2}, {2, 4}};
  const std::vector<int64_t> items = {5, 5, 5, 6, 6};
  const std::vector<Pieces> pieces = {{0, 3, 0}, {0, 3, 1}, {0, 3, 2}, {4, 2, 4}, {4, 2, 5}};
  for (int64_t w = 0; w < 5; ++w) {
    const PiecePlace place = wave.place(5 + w);
    EXPECT_EQ(wave.item(place), items[size_t(w)]);
    EXPECT_EQ(wave.tiles(place), tiles[size_t(w)]);
    EXPECT_EQ(wave.pieces(place), pieces[size_t(w)]);
    EXPECT_EQ(wave.pieces(wave.place(10 + w)).count, 0);
  }
}

TEST(LastWave, CoversEveryTileOnceInEqualSharesAndNumbersPiecesWithoutGaps) {
  for (int64_t items = 1; items <= 23; ++items)
    for (int64_t tiles = 1; tiles <= 9; ++tiles)
      for (int64_t workers = 1; workers <= 11; ++workers) {
        const LastWave wave(items, tiles, workers);
        const int64_t left = items % workers, whole = items - left;
        ASSERT_EQ(wave.places(), whole + (left > 0 ? 2 * workers : 0));
        std::map<int64_t, std::vector<Pieces>> of_item;
        std::vector<int> visits(size_t(left * tiles), 0);
        std::vector<int64_t> work(size_t(workers), 0);
        for (int64_t index = whole; index < wave.places(); ++index) {
          const PiecePlace place = wave.place(index);
          const Range range = wave.tiles(place);
          const Pieces pieces = wave.pieces(place);
          ASSERT_EQ(pieces.count == 0, range.empty());
          if (range.empty()) continue;
          const int64_t item = wave.item(place) - whole;
          ASSERT_TRUE(item >= 0 && item < left);
          for (int64_t tile = range.begin; tile < range.end; ++tile)
            ++visits[size_t(item * tiles + tile)];
          work[size_t((index - whole) % workers)] += range.size();
          of_item[item].push_back(pieces);
        }
        for (const int count : visits) ASSERT_EQ(count, 1);
        const auto [least, most] = std::minmax_element(work.begin(), work.end());
        ASSERT_LE(*most - *least, 1);
        int64_t next = 0;
        for (auto& [item, all] : of_item) {
          std::sort(all.begin(), all.end(),
                    [](const Pieces& a, const Pieces& b) { return a.own < b.own; });
          ASSERT_GE(all.front().first, next);
          for (size_t i = 0; i < all.size(); ++i) {
            ASSERT_EQ(all[i].first, all.front().own);
            ASSERT_EQ(all[i].count, int64_t(all.size()));
            ASSERT_EQ(all[i].own, all[i].first + int64_t(i));
          }
          next = all.back().own + 1;
        }
        ASSERT_LE(next, wave.most_pieces());
      }
}

TEST(BalancedLaunch, GivesPiecesOfTheLastWaveTheVisibleTilesOfTheirItem) {
  // One head of 3 Q tiles and 3 K/V tiles, causal: items see tiles [0,1), [0,2), [0,3).
  const Problem problem{.seq_q = 12, .seq_kv = 12, .mask = {MaskKind::causal, 0}};
  const Tiling tiling{4, 4};
  Schedule schedule{.launch = launch_id<BalancedLaunch>};
  schedule.workers = 4;
  ASSERT_EQ(item_count(problem, tiling, schedule), 8);
  std::map<int64_t, int64_t> seen;
  for (int64_t i = 0; i < 8; ++i) {
    const Item item = item_at(problem, tiling, schedule, i);
    if (item.pieces.count > 0) seen[item.own_tile] += item.scanned.size();
  }
  EXPECT_EQ(seen, (std::map<int64_t, int64_t>{{0, 1}, {1, 2}, {2, 3}}));
}

TEST(BalancedLaunch, IsTheStaticLaunchWithKvSplit) {
  const Problem problem{.seq_q = 40, .seq_kv = 40};
  const Tiling tiling{4, 4};
  Schedule schedule{.launch = launch_id<BalancedLaunch>};
  schedule.workers = 4;
  schedule.kv_split = 2;
  EXPECT_EQ(item_count(problem, tiling, schedule), 20);
  EXPECT_EQ(item_at(problem, tiling, schedule, 19).pieces, Pieces{});
}

}  // namespace
}  // namespace sawtooth
