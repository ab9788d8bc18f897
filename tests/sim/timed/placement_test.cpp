// Where CTAs are placed, when they start, and how they share an SM.
#include "sim/timed/placement.hpp"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/timed/step_times.hpp"
#include "tests/sim/timed/plain_steps.hpp"
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

TEST(Placement, EveryTpcHasTwoSms) {
  for (const int64_t sms : {132, 48, 108}) {
    std::map<std::pair<int, int>, int> sms_of_tpc;
    for (const PlacedSm& sm : sms == 132 ? placed_sms(sms, 2, recorded) : placed_sms(sms, 1))
      ++sms_of_tpc[{sm.gpc, sm.tpc}];
    EXPECT_EQ(int64_t(sms_of_tpc.size()), sms / 2);
    for (const auto& [tpc, count] : sms_of_tpc) EXPECT_EQ(count, 2);
  }
}

TEST(SmSpeed, OfALoneCtaIsThatOfItsTpcToo) {
  StepParameters step;
  step.tpc_spread = 0.01;
  const SmSlowness known = slowness_of(placed_sms(132, 2, recorded), step, 0);
  EXPECT_NEAR(known.of(6, 1), 1.01, 1e-12);
  EXPECT_NEAR(known.of(7, 1), 0.99, 1e-12);
  EXPECT_NEAR(known.of(7, 2), 1, 1e-12);
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
  EXPECT_NEAR(sum / draws, 0, 5 * *step.sm_spread / std::sqrt(draws));
  EXPECT_NEAR(std::sqrt(squares / draws), *step.sm_spread, 0.1 * *step.sm_spread);
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

Request launched_by(int64_t q_tiles, int64_t kv_tiles, int64_t workers, const char* launch) {
  Request request = request_of(q_tiles, kv_tiles, workers);
  request.schedule.launch = {*Launches::find(launch)};
  return request;
}

// One SM; a step has 500 ns of products and 500 of exponentials (one).
TimedParameters one_sm() {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.tensor_flop_a_ns = flop_a_step / 500;
  parameters.step.exp_a_ns = 1.0 / 500;
  return parameters;
}

// A bias of half of the exponentials' half: of two CTAs the older one takes 2000 / 1.25 = 1600 ns a
// step and the younger one 2000 / 0.75 = 2666 2/3; alone it takes 1000. Four items of three steps.
// A persistent CTA stays the older one: its items end at 4800 and 9600. The younger one has begun
// steps at 0, 2666 2/3, 5333 1/3 and 8000; the one that begins at 10666 2/3 and the next are alone.
TEST(SmSharing, APersistentCtaStaysTheOlderOneFromItemToItem) {
  TimedParameters parameters = one_sm();
  parameters.step.age_bias = 0.5;
  EXPECT_NEAR(duration_ns(launched_by(4, 3, 2, "static"), parameters), 32000.0 / 3 + 2000, 1e-6);
}

// Under grid the first CTA ends at 4800 and its successor is the younger one of the two: the second
// CTA's last step, begun at 5333 1/3, takes 1600. Item 2 takes 2666 2/3 from 4800, then 1600 twice
// (item 3 began at 6933 1/3, after it) and ends at 10666 2/3; item 3 begins steps at 6933 1/3 and
// 9600 as the younger one, and the last one, at 12266 2/3, alone.
TEST(SmSharing, UnderGridTheSuccessorOfTheOlderCtaIsTheYoungerOne) {
  TimedParameters parameters = one_sm();
  parameters.step.age_bias = 0.5;
  EXPECT_NEAR(duration_ns(launched_by(4, 3, 2, "grid"), parameters), 36800.0 / 3 + 1000, 1e-6);
}

// Three items of four steps for three CTAs. Two share the SM at 2000 ns a step; the third one
// begins 100 ns after they have ended, alone, at 1500 with the exposed time. An SM that holds all
// three has each at 3000 a step.
TEST(SmSharing, CtasThatDoNotFitBeginWhenOthersEnd) {
  TimedParameters parameters = one_sm();
  parameters.step.exposed_ns = 500;
  parameters.step.refill_ns = 100;
  for (const char* launch : {"static", "grid"}) {
    parameters.resident_ctas = 2;
    EXPECT_NEAR(duration_ns(launched_by(3, 4, 3, launch), parameters), 4 * 2000 + 100 + 4 * 1500,
                1e-6)
        << launch;
    parameters.resident_ctas = 0;
    EXPECT_NEAR(duration_ns(launched_by(3, 4, 3, launch), parameters), 4 * 3000, 1e-6) << launch;
  }
  // Tickets: who has none left ends, and so does the third one, which finds none.
  parameters.resident_ctas = 2;
  EXPECT_NEAR(duration_ns(launched_by(3, 4, 3, "dynamic"), parameters), 4 * 2000 + 4 * 1500, 1e-6);
}

// The first one of two CTAs of an SM is faster: CTAs 80 to 87 and 140 to 263 were the slower ones
// in every recorded launch of 264. So 0 to 7 share with 80 to 87; GPCs follow each other both
// times.
TEST(CtaOrder, PairsAreThoseOfRecordedLaunches) {
  const SmLayout layout = tests::recorded_layout();
  const std::vector<int64_t> sms = sms_of_ctas(placed_sms(132, 2, layout), layout, 264);
  ASSERT_EQ(sms.size(), 264u);
  std::vector<bool> has_one(132, false);
  for (size_t cta = 0; cta < 264; ++cta) {
    const bool second = has_one.at(size_t(sms[cta]));
    EXPECT_EQ(second, (cta >= 80 && cta < 88) || cta >= 140) << cta;
    has_one[size_t(sms[cta])] = true;
  }
  for (size_t cta = 0; cta < 132; ++cta) {
    if (cta >= 80 && cta < 88) continue;
    const size_t second = cta < 8 ? cta + 80 : cta < 80 ? cta + 132 : cta + 124;
    EXPECT_EQ(sms[cta], sms[second]) << cta;
  }
}

TEST(CtaOrder, EverySmGetsAsManyAsTheOthers) {
  const SmLayout layout = tests::recorded_layout();
  const std::vector<PlacedSm> placed = placed_sms(132, 2, layout);
  for (const int64_t an_sm : {1, 2, 3}) {
    std::vector<int64_t> ctas(132, 0);
    for (const int64_t sm : sms_of_ctas(placed, layout, 132 * an_sm)) ++ctas.at(size_t(sm));
    EXPECT_EQ(ctas, std::vector<int64_t>(132, an_sm));
  }
  EXPECT_EQ(sms_of_ctas(placed_sms(3, 1), {}, 7), (std::vector<int64_t>{0, 1, 2, 0, 1, 2, 0}));
}

}  // namespace
}  // namespace sawtooth::sim
