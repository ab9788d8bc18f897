// The order of items, and the order in which they add to dQ.
#include "scheduler/order.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/dq_order.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth {
namespace {

// Items in their order, each counted at every Q tile that it sees.
TEST(DqOrder, CountsTheItemsOfTheHeadThatCameBeforeAtTheTile) {
  const Tiling tiling{16, 24};
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
    for (const auto& [seq_q, seq_kv] : {std::pair{200, 200}, std::pair{90, 300}, {300, 90}})
      for (int q_order = 0; q_order < QOrders::size; ++q_order)
        for (const int64_t section : {1, 2, 3}) {
          Problem problem{.batch = 2, .heads = 4, .kv_heads = 2, .seq_q = seq_q, .seq_kv = seq_kv};
          problem.pass = Pass::backward;
          problem.mask = {mask, 50};
          Schedule schedule;
          schedule.order.q_order = {q_order};
          schedule.order.section = section;
          std::map<std::pair<int64_t, int64_t>, int64_t> added;  // by K/V head and Q tile
          for (int64_t index = 0; index < item_count(problem, tiling, schedule); ++index) {
            const Item item = item_at(problem, tiling, schedule, index);
            for (int64_t tile = item.scanned.begin; tile < item.scanned.end; ++tile) {
              int64_t& before = added[{item.batch * problem.kv_heads + item.kv_head, tile}];
              ASSERT_EQ(additions_before(problem, tiling, schedule.order, item.own_tile, tile),
                        before);
              ++before;
            }
          }
        }
}

constexpr int64_t ranks = 3;

std::string walk(const Problem& problem, const Order& order, int64_t kv_split = 1) {
  std::string text;
  const int64_t heads = problem.batch * problem.item_heads(problem.pass);
  for (int64_t i = 0; i < heads * kv_split * ranks; ++i) {
    const WorkCoordinates work = work_at(problem, order, ranks, kv_split, i, problem.pass);
    if (!text.empty()) text += ' ';
    text += std::to_string(work.batch) + std::to_string(work.head) + std::to_string(work.own_tile);
    if (kv_split > 1) text += std::to_string(work.part);
  }
  return text;
}

// Digits are batch, head, Q tile (and part).
TEST(Order, ASectionOfOneHeadWalksItsQTilesFirst) {
  EXPECT_EQ(walk({.heads = 2}, {.section = 1}), "000 001 002 010 011 012");
}

TEST(Order, ASectionOfAllHeadsWalksHeadsFirst) {
  EXPECT_EQ(walk({.heads = 3}, {.section = 3}), "000 010 020 001 011 021 002 012 022");
}

TEST(Order, TheLastSectionHasWhatIsLeft) {
  EXPECT_EQ(walk({.heads = 3}, {.section = 2}), "000 010 001 011 002 012 020 021 022");
}

TEST(Order, ASectionLargerThanAllHeadsIsAllHeads) {
  EXPECT_EQ(walk({.heads = 2}, {.section = 9}), walk({.heads = 2}, {.section = 2}));
}

TEST(Order, DescendingAndFoldMapTheRank) {
  EXPECT_EQ(walk({}, {.q_order = q_order_id<DescendingQ>}), "002 001 000");
  EXPECT_EQ(walk({}, {.q_order = q_order_id<FoldQ>}), "000 002 001");
}

TEST(Order, HeadMajorRunsThroughTheBatchFirst) {
  const Problem problem{.batch = 2, .heads = 2};
  EXPECT_EQ(walk(problem, {.section = 1, .head_order = HeadOrder::head_major}),
            "000 001 002 100 101 102 010 011 012 110 111 112");
}

TEST(Order, PartsOfAHeadAreNeighbouringHeads) {
  EXPECT_EQ(walk({}, {.section = 1}, 2), "0000 0010 0020 0001 0011 0021");
  EXPECT_EQ(walk({}, {.section = 2}, 2), "0000 0001 0010 0011 0020 0021");
}

TEST(Order, AnExplicitListReplacesEverything) {
  const std::vector<WorkCoordinates> list{{0, 0, 2, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}};
  EXPECT_EQ(walk({}, {.section = 1, .list = list.data()}), "002 000 001");
}

TEST(Order, AutoSectionFitsAPowerOfTwoOfKvHeadsTimesTheGroup) {
  // One K/V head: 2 x 1024 x 64 x 2 bytes = 256 KiB.
  const Problem problem{.heads = 32, .kv_heads = 8, .seq_q = 1024, .seq_kv = 1024};
  EXPECT_EQ(auto_section(problem, 256 * 1024 - 1), 4);      // P = 1 at least
  EXPECT_EQ(auto_section(problem, 256 * 1024), 4);          // P = 1
  EXPECT_EQ(auto_section(problem, 2 * 256 * 1024), 2 * 4);  // P = 2
  EXPECT_EQ(auto_section(problem, 7 * 256 * 1024), 4 * 4);  // 7 fit, P = 4
}

TEST(Order, HeadsOfTheBackwardPassAreKvHeads) {
  const Problem problem{.batch = 2, .heads = 6, .kv_heads = 2, .pass = Pass::backward};
  EXPECT_EQ(walk(problem, {.section = 2}), "000 010 001 011 002 012 100 110 101 111 102 112");
  EXPECT_EQ(walk(problem, {.section = 4, .head_order = HeadOrder::head_major}),
            "000 100 010 110 001 101 011 111 002 102 012 112");
}

// A K/V head's group of 4 heads with 1024 rows of 64 two-byte elements: Q and dO are 256 bytes a
// row, and so are the fp32 sums of dQ, 2 MiB together.
TEST(Order, AutoSectionOfTheBackwardPassWeighsQDoAndDq) {
  const Problem problem{
      .heads = 16, .kv_heads = 4, .seq_q = 1024, .seq_kv = 64, .pass = Pass::backward};
  constexpr int64_t group_bytes = 2 << 20;
  EXPECT_EQ(auto_section(problem, group_bytes - 1), 1);  // at least one
  EXPECT_EQ(auto_section(problem, 3 * group_bytes), 2);
  EXPECT_EQ(auto_section(problem, 4 * group_bytes), 4);
}

}  // namespace
}  // namespace sawtooth
