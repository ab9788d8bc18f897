// Where SMs are, how fast, and when they get their first CTAs.
#include "sim/timed/placement.hpp"

#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/timed/sm_speed.hpp"
#include "sim/timed/start_order.hpp"
#include "tests/support/recorded_layout.hpp"

namespace sawtooth::sim {
namespace {

const SmLayout recorded = tests::recorded_layout();

TEST(Placement, AnH200HasTwoEqualHalvesAndEightGpcs) {
  int64_t of_half_1 = 0;
  std::map<int, int> sms_of_gpc;
  std::set<std::pair<int, int>> halves_of_gpcs;
  for (const PlacedSm& sm : placed_sms(132, 2, recorded)) {
    of_half_1 += sm.half;
    ++sms_of_gpc[sm.gpc];
    halves_of_gpcs.insert({sm.gpc, sm.half});
  }
  EXPECT_EQ(of_half_1, 66);
  EXPECT_EQ(halves_of_gpcs.size(), 8u) << "a GPC sits at one half";
  std::multiset<int> sizes;
  for (const auto& [gpc, sms] : sms_of_gpc) sizes.insert(sms);
  EXPECT_THAT(sizes, testing::ElementsAre(16, 16, 16, 16, 16, 16, 18, 18));
}

TEST(Placement, WithoutALayoutHalvesAreInOnePieceAndGpcsHave16Sms) {
  const std::vector<PlacedSm> placed = placed_sms(132, 2);
  for (int sm = 0; sm < 132; ++sm) {
    EXPECT_EQ(placed[size_t(sm)].half, sm < 66 ? 0 : 1) << sm;
    EXPECT_EQ(placed[size_t(sm)].gpc, sm / 16) << sm;
    EXPECT_EQ(placed[size_t(sm)].tpc, sm % 16 / 2) << sm;
  }
}

TEST(Placement, AKnownDieHasItsOwnHalves) {
  std::vector<int64_t> halves(132, 1);
  halves[5] = 0;
  const std::vector<PlacedSm> usual = placed_sms(132, 2, recorded),
                              known = placed_sms(132, 2, recorded, halves);
  for (size_t sm = 0; sm < usual.size(); ++sm) {
    EXPECT_EQ(known[sm].half, sm == 5 ? 0 : 1);
    EXPECT_EQ(known[sm].gpc, usual[sm].gpc);
  }
  for (const PlacedSm& sm : placed_sms(132, 1, {}, halves)) EXPECT_EQ(sm.half, 0) << "one block";
}

TEST(Placement, EveryTpcHasTwoSms) {
  for (const int64_t sms : {132, 48, 108}) {
    std::map<std::pair<int, int>, int> sms_of_tpc;
    for (const PlacedSm& sm : sms == 132 ? placed_sms(sms, 2, recorded) : placed_sms(sms, 1))
      ++sms_of_tpc[{sm.gpc, sm.tpc}];
    EXPECT_EQ(int64_t(sms_of_tpc.size()), sms / 2);
    for (const auto& [tpc, count] : sms_of_tpc) EXPECT_EQ(count, 2);
  }
}

TEST(SmSpeed, OfADieIsThatOfItsFileAndOfItsTpcs) {
  StepParameters step;
  step.sm_spread = 0.5;  // has no effect where the speeds are known
  for (int sm = 0; sm < 132; ++sm) step.sm_slowness.push_back(sm * 1e-5);
  const std::vector<PlacedSm> placed = placed_sms(132, 2, recorded);
  EXPECT_NEAR(slowness_of(placed, step, 0).alone[100], 1.001, 1e-12);
  step.tpc_spread = 0.01;
  EXPECT_NEAR(slowness_of(placed, step, 0).alone[100], 1.011, 1e-12);
  EXPECT_NEAR(slowness_of(placed, step, 0).alone[101], 0.99101, 1e-12);
}

TEST(SmSpeed, OfTwoCtasIsThatOfEachWhereTheDieKnowsItAndHasNoTpcs) {
  StepParameters step;
  step.tpc_spread = 0.01;
  step.sm_slowness.assign(132, 0.001);
  const std::vector<PlacedSm> placed = placed_sms(132, 2, recorded);
  SmSlowness known = slowness_of(placed, step, 0);
  EXPECT_NEAR(known.of(7, 1, 0), 0.991, 1e-12);
  EXPECT_NEAR(known.of(7, 2, 0), 1.001, 1e-12);
  EXPECT_NEAR(known.of(7, 2, 1), 1.001, 1e-12);
  step.sm_slowness_older.assign(132, 0.03);
  step.sm_slowness_younger.assign(132, -0.02);
  known = slowness_of(placed, step, 0);
  EXPECT_NEAR(known.of(7, 1, 0), 0.991, 1e-12);
  EXPECT_NEAR(known.of(7, 2, 0), 1.03, 1e-12);
  EXPECT_NEAR(known.of(7, 2, 1), 0.98, 1e-12);
  EXPECT_NEAR(known.of(7, 3, 2), 0.98, 1e-12) << "all but the oldest are younger ones";
}

TEST(Starts, ItemsAreLateInTheOrderOfStartsAndNotOnTheWhole) {
  const std::vector<PlacedSm> placed = placed_sms(132, 2, recorded);
  const std::vector<double> turns = turns_of(placed, recorded.tpc_turns);
  const std::vector<double> late = item_late_ns(turns, 350);
  double sum = 0;
  for (size_t sm = 0; sm < placed.size(); ++sm) {
    sum += late[sm];
    EXPECT_NEAR(late[sm] - late[0], 350 * (turns[sm] - turns[0]), 1e-9);
  }
  EXPECT_NEAR(sum, 0, 1e-9);
  // The third TPC of a GPC of eight starts last, the seventh first.
  EXPECT_NEAR(late[16 + 4] - late[16 + 12], 350, 1e-9);
}

TEST(SmSpeed, DrawnSpeedsAreThoseOfGpcs) {
  StepParameters step;
  step.sm_spread = 0.01;
  const std::vector<PlacedSm> placed = placed_sms(132, 2, recorded);
  constexpr int seeds = 400;
  double sum = 0, squares = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<double> factors = slowness_of(placed, step, seed).alone;
    std::map<int, std::set<double>> of_gpc;
    for (size_t sm = 0; sm < placed.size(); ++sm) of_gpc[placed[sm].gpc].insert(factors[sm]);
    EXPECT_EQ(of_gpc.size(), 8u);
    for (const auto& [gpc, different] : of_gpc) {
      EXPECT_EQ(different.size(), 1u);
      sum += *different.begin() - 1;
      squares += std::pow(*different.begin() - 1, 2);
    }
  }
  constexpr double draws = seeds * 8;
  EXPECT_NEAR(sum / draws, 0, 5 * step.sm_spread / std::sqrt(draws));
  EXPECT_NEAR(std::sqrt(squares / draws), step.sm_spread, 0.1 * step.sm_spread);
  EXPECT_EQ(slowness_of(placed, step, 3).alone, slowness_of(placed, step, 3).alone);
}

// First starts of the TPCs of a GPC of 16 SMs, from the recorded launches of one GPU (ns, means):
// 92, 101, 146, 56, 69, 118, 12 and 34.
TEST(StartOrder, OfAGpcIsTheRecordedOne) {
  const std::vector<PlacedSm> placed = placed_sms(132, 2, recorded);
  const std::vector<double> turns = turns_of(placed, recorded.tpc_turns);
  std::vector<double> means(8, 0);
  constexpr int seeds = 64;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<double> starts = start_ns(placed, turns, 130, 0.07, seed);
    EXPECT_EQ(*std::min_element(starts.begin(), starts.end()), 0);
    for (size_t sm = 80; sm < 96; ++sm) {
      means[(sm - 80) / 2] += starts[sm] / 2 / seeds;
      EXPECT_EQ(starts[sm], starts[sm / 2 * 2]) << "both SMs of a TPC at once";
    }
  }
  const std::vector<double> known{92, 101, 146, 56, 69, 118, 12, 34};
  for (size_t tpc = 0; tpc < 8; ++tpc)
    EXPECT_NEAR(means[tpc] - means[6], known[tpc] - known[6], 15) << tpc;
}

TEST(StartOrder, WithoutSpreadAllStartAtOnce) {
  const std::vector<PlacedSm> placed = placed_sms(132, 2, recorded);
  const std::vector<double> turns = turns_of(placed, recorded.tpc_turns);
  for (const double start : start_ns(placed, turns, 0, 0.07, 5)) EXPECT_EQ(start, 0);
}

}  // namespace
}  // namespace sawtooth::sim
