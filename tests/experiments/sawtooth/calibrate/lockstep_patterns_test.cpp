// Orders of reads, traced by hand on two or three CTAs a half.
#include "experiments/studies/streams/lockstep_patterns.hpp"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>

namespace sawtooth::experiments {
namespace {

using ::testing::ElementsAre;
using enum LockstepFamily;

constexpr int32_t none = LockstepOrder::none;

std::vector<int32_t> at_step(const LockstepOrder& order, int64_t step) {
  const auto begin = order.tiles.begin() + static_cast<std::ptrdiff_t>(step * order.ctas());
  return {begin, begin + static_cast<std::ptrdiff_t>(order.ctas())};
}

// 1 MiB are 32 tiles; two lanes begin at tiles 0 and 16.
TEST(LockstepPatterns, ARingIsReadFromPlacesEvenlyApart) {
  const LockstepOrder order =
      lockstep_order({.family = ring, .mib = 1, .lanes = 2, .steps = 18}, 2);
  EXPECT_THAT(at_step(order, 0), ElementsAre(0, 16, 0, 16));
  EXPECT_THAT(at_step(order, 17), ElementsAre(17, 1, 17, 1));
  EXPECT_EQ(order.steps(), 18);
  EXPECT_EQ(order.buffer_tiles(), 32);
  EXPECT_EQ(order.reads(), 18 * 4);
  EXPECT_EQ(order.table_sectors(), 18 * 4 * 4 / 32);
}

TEST(LockstepPatterns, PairsShareTheirPlaceAndSinglesHaveTheirOwn) {
  const LockstepOrder shared =
      lockstep_order({.family = pairs, .mib = 64, .readers = 2, .steps = 2}, 4);
  const std::vector<int32_t> first = at_step(shared, 0);
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(first[2], first[3]);
  EXPECT_NE(first[0], first[2]);
  EXPECT_TRUE(std::equal(first.begin(), first.begin() + 4, first.begin() + 4));
  const LockstepOrder own = lockstep_order({.family = single, .mib = 64, .steps = 2}, 4);
  const std::vector<int32_t> places = at_step(own, 0);
  EXPECT_EQ(std::set(places.begin(), places.end()).size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(at_step(own, 1)[i], (places[i] + 1) % (64 * 32));
}

// One lane: pair 0 leads, pair 1 follows at 1 MiB (32 tiles), pair 2 at 1 + 2 MiB.
TEST(LockstepPatterns, FollowersReadWhatTheLeaderReadADistanceAgo) {
  const LockstepOrder order = lockstep_order(
      {.family = follow, .mib = 480, .distance_mib = 1, .second_mib = 2, .steps = 100}, 3);
  EXPECT_THAT(at_step(order, 31), ElementsAre(31, none, none, 31, none, none));
  EXPECT_THAT(at_step(order, 99), ElementsAre(99, 67, 3, 99, 67, 3));
}

TEST(LockstepPatterns, OfOneHalfOnlyOneHalfLeadsAndTheFollowerSitsWhereItIsTold) {
  LockstepPattern pattern{.family = one_half, .mib = 480, .distance_mib = 1, .steps = 40};
  EXPECT_THAT(at_step(lockstep_order(pattern, 2), 39), ElementsAre(39, 7, none, none));
  pattern.across = true;
  EXPECT_THAT(at_step(lockstep_order(pattern, 2), 39), ElementsAre(39, none, none, 7));
}

// Two readers up to 1 MiB: 16 and 32 tiles behind.
TEST(LockstepPatterns, AChainDividesItsDistanceEvenly) {
  const LockstepOrder order = lockstep_order(
      {.family = chain, .mib = 480, .readers = 2, .distance_mib = 1, .steps = 40}, 3);
  EXPECT_THAT(at_step(order, 39), ElementsAre(39, 23, 7, 39, 23, 7));
}

// 32 hot tiles in the time of 64 fresh ones: one at every other step.
TEST(LockstepPatterns, HotTilesComeRoundOnceAPeriod) {
  const LockstepOrder order = lockstep_order(
      {.family = hot, .mib = 480, .distance_mib = 1, .second_mib = 2, .steps = 66}, 2);
  EXPECT_THAT(at_step(order, 0), ElementsAre(32, none, 32, none));
  EXPECT_THAT(at_step(order, 1), ElementsAre(33, 0, 33, 0));
  EXPECT_THAT(at_step(order, 3), ElementsAre(35, 1, 35, 1));
  EXPECT_THAT(at_step(order, 65), ElementsAre(97, 0, 97, 0));
}

// Two CTAs, 32 items: CTA 0 reads item 0 (tile 0), then item 2 (0, 1, 2); CTA 1 item 1 (0, 1), then
// item 3. Backwards, item 2 is 2, 1, 0.
TEST(LockstepPatterns, CausalItemsReadUpToThemselves) {
  const LockstepOrder order = lockstep_order({.family = causal, .mib = 1}, 1);
  EXPECT_THAT(at_step(order, 0), ElementsAre(0, 0));
  EXPECT_THAT(at_step(order, 1), ElementsAre(0, 1));
  EXPECT_THAT(at_step(order, 3), ElementsAre(2, 1));
  EXPECT_EQ(order.reads(), 32 * 33 / 2);
  EXPECT_EQ(order.steps(),
            2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20 + 22 + 24 + 26 + 28 + 30 + 32);
  const LockstepOrder saw = lockstep_order({.family = causal_sawtooth, .mib = 1}, 1);
  EXPECT_THAT(at_step(saw, 1), ElementsAre(2, 1));
  EXPECT_THAT(at_step(saw, 2), ElementsAre(1, 3));
  EXPECT_EQ(saw.reads(), order.reads());
}

// Workers 0 to 3 with items 0 to 3, then 4 to 7; worker w takes its second item at step w + 1, so
// that at step 3 it reads 2, 1, 0 or, still of item 3, tile 3. Workers 0 and 1 sit at half 0, or 0
// and 2.
TEST(LockstepPatterns, CausalNeighboursShareAHalfOrAlternate) {
  LockstepPattern pattern{.family = causal, .mib = 1};
  EXPECT_THAT(at_step(lockstep_order(pattern, 2), 3), ElementsAre(2, 1, 0, 3));
  pattern.across = true;
  EXPECT_THAT(at_step(lockstep_order(pattern, 2), 3), ElementsAre(2, 0, 1, 3));
}

TEST(LockstepPatterns, SizesThatMakeNoOrderAreRefused) {
  EXPECT_THROW(lockstep_order({.family = ring, .mib = 0, .steps = 1}, 2), std::invalid_argument);
  EXPECT_THROW(lockstep_order({.family = ring, .mib = 1, .steps = 1}, 0), std::invalid_argument);
  EXPECT_THROW(lockstep_order({.family = follow, .mib = 9, .lanes = 3, .steps = 1}, 2),
               std::invalid_argument);
  EXPECT_THROW(lockstep_order({.family = hot, .mib = 9, .distance_mib = 9, .second_mib = 1}, 2),
               std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::experiments
