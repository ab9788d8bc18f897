// How long steps and items take, derived by hand: waiting for loads, and sharing an SM.
#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "sim/timed/chance.hpp"
#include "sim/timed/step_cost.hpp"
#include "tests/sim/timed/plain_steps.hpp"

namespace sawtooth::sim {
namespace {

// Four steps of one worker: how long DRAM takes, what the kernel asks for ahead, and its time.
TEST(TimedWavefront, ALoneWorkerTakesItsStepsAndTheLatencyThatItDoesNotHide) {
  struct Case {
    double dram_ns;
    int stages;
    std::optional<Leads> leads;
    double expected_ns, without_stalls_ns;
  };
  for (const Case& one :
       {// Q and the first tile come after 400 ns; every later tile is asked for a step ahead.
        Case{400, 2, {}, 400 + 4 * step_ns, 400 + 4 * step_ns},
        // Each tile is asked for when the step before begins, so steps begin 1500 ns apart.
        Case{1500, 2, {}, 4 * 1500 + step_ns, 1500 + 4 * step_ns},
        // A third stage hides two steps of latency.
        Case{1500, 3, {}, 1500 + 4 * step_ns, 1500 + 4 * step_ns},
        // Q comes after 400 ns; then each step waits 400 ns for K, computes half of its time,
        // waits 400 ns for V and computes the rest.
        Case{400, 2, Leads{0, 0}, 400 + 4 * (400 + 400 + step_ns), 400 + 4 * step_ns},
        // Tiles asked for 300 ns before their use come 100 ns late; the first K comes with Q.
        Case{400, 2, Leads{0.3, 0.3}, 400 + 4 * step_ns + 7 * 100, 400 + 4 * step_ns},
        Case{400, 2, Leads{0.3, 0.4}, 400 + 4 * step_ns + 3 * 100, 400 + 4 * step_ns},
        Case{400, 2, Leads{2.25, 0.5}, 400 + 4 * step_ns, 400 + 4 * step_ns}}) {
    SCOPED_TRACE(one.expected_ns);
    TimedParameters parameters = plain_parameters(1);
    parameters.l2.dram_ns = one.dram_ns;
    parameters.step.stages = one.stages;
    parameters.step.leads = one.leads;
    EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), one.expected_ns, 1e-6);
    parameters.stalls = false;
    EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), one.without_stalls_ns, 1e-6);
  }
}

// V half a step after K, each asked for when the step before begins: as one load of two stages.
TEST(TimedWavefront, LeadsOfAStepAreThoseOfTwoStages) {
  for (const double dram_ns : {400.0, 1500.0, 2500.0}) {
    TimedParameters parameters = plain_parameters(1);
    parameters.l2.dram_ns = dram_ns;
    const double two_stages = duration_ns(request_of(2, 5, 1), parameters);
    parameters.step.leads = Leads{1, 1.5};
    EXPECT_NEAR(duration_ns(request_of(2, 5, 1), parameters), two_stages, 1e-6);
  }
}

TEST(TimedWavefront, RefusesLeadsBeyondItsStages) {
  for (const Leads leads : {Leads{7.5, 0}, Leads{0, 7.5}, Leads{-1, 0}}) {
    TimedParameters parameters = plain_parameters(1);
    parameters.step.leads = leads;
    EXPECT_THROW(simulate_timed(request_of(1, 2, 1), parameters), std::invalid_argument);
  }
}

TEST(TimedWavefront, ExposedTimeAndItemCostsAddUp) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.exposed_ns = 50;
  parameters.step.item_begin_ns = 30;
  parameters.step.item_end_ns = 20;
  parameters.step.launch_ns = 7;
  EXPECT_NEAR(duration_ns(request_of(2, 3, 1), parameters), 7 + 2 * (30 + 3 * 1050 + 20), 1e-6);
}

// Sequences of two Q tiles and of one, four K/V tiles each: the fourth item is void.
TEST(TimedWavefront, AVoidItemTakesTheBeginOfAnItemAlone) {
  const std::vector<SequenceLengths> lengths{{2, 4}, {1, 4}};
  Request request = request_of(2, 4, 1);
  request.problem.batch = 2;
  request.sequences.lengths = lengths.data();
  TimedParameters parameters = plain_parameters(1);
  parameters.step.item_begin_ns = 30;
  parameters.step.item_end_ns = 20;
  EXPECT_NEAR(duration_ns(request, parameters), 3 * (30 + 4 * step_ns + 20) + 30, 1e-6);
}

TEST(TimedWavefront, TwoCtasOfAnSmShareItsPipesAndHideExposedTime) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.exposed_ns = 500;
  // Alone 1500 ns a step; two take 2000 ns each, for 1000 ns of pipes are to be had by each.
  EXPECT_NEAR(duration_ns(request_of(1, 4, 1), parameters), 4 * 1500, 1e-6);
  EXPECT_NEAR(duration_ns(request_of(2, 4, 2), parameters), 4 * 2000, 1e-6);
  parameters.sharing = false;
  EXPECT_NEAR(duration_ns(request_of(2, 4, 2), parameters), 4 * 1500, 1e-6);
}

TEST(StepCost, SharesOfAnSmAreUnequalAndAddUpToIt) {
  const StepCost cost{.tensor_ns = 800, .exp_ns = 200, .exposed_ns = 100, .bias = 0.1};
  for (int ctas = 2; ctas <= 5; ++ctas) {
    double shares = 0;
    for (int rank = 0; rank < ctas; ++rank) shares += cost.pipe_ns() / cost.shared_ns(ctas, rank);
    EXPECT_NEAR(shares, 1, 1e-12);
    EXPECT_LT(cost.shared_ns(ctas, 0), cost.shared_ns(ctas, ctas - 1));
  }
  EXPECT_NEAR(cost.shared_ns(2, 0), 2000 / 1.1, 1e-9);
}

// Two CTAs on an SM, with items of 11 and 12 steps. The tile's one line falls to the second one,
// which so takes 1.1 times the 2000 ns that a shared step takes, and the other one 0.9 times. The
// first CTA's first step is a lone one, so it ends at 1000 + 10 * 1800 = 19000 ns. The second one
// is then in its ninth step of 2200 ns, to 19800 ns, and takes three more alone.
TEST(TimedWavefront, ACtaWithPrefetchesOfItsOwnFallsBehindOneWithout) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.prefetch_lines_bias = 0.1;
  Request request = request_of(2, 12, 2);
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.prefetch = 1;
  EXPECT_NEAR(duration_ns(request, parameters), 9 * 2200 + 3 * step_ns, 1e-6);
}

// 4 lines of a K tile for 3 sharers: 1, 1 and 2 lines each, or for 5: one of them has none.
TEST(TimedWavefront, WorkersWithoutLinesToPrefetchRunAhead) {
  Request request = request_of(5, 64, 5);
  request.problem.seq_q = 20;
  request.problem.seq_kv = 256;
  request.tiling = {4, 4};
  request.schedule.prefetch = 2;
  TimedParameters parameters = plain_parameters(5);
  parameters.step.tensor_flop_a_ns = 16 * flop_a_step / step_ns;
  parameters.step.prefetch.lines_ns = 10;
  EXPECT_NEAR(duration_ns(request, parameters), 64 * (step_ns + 10), 1e-6);
  const Prediction prediction = simulate_timed(request, parameters);
  double sharing = 0;
  for (const TimeTerms& terms : prediction.phases) sharing += terms[TimeTerm::sharing];
  EXPECT_NEAR(sharing, 4 * 64 * 10, 1e-6);  // four of five pay
}

// Two CTAs of an SM that alternate have one luck, so that both end together however it falls;
// others go their own ways. The first CTA's first step is a lone one: they are never quite in step.
TEST(TimedWavefront, CtasInStepHaveOneLuck) {
  const auto spread_of_ends = [&](bool in_step) {
    TimedParameters parameters = plain_parameters(1);
    parameters.step.jitter_in_step = parameters.step.jitter_shared = 0.2;
    parameters.step.keep_step = in_step;
    double sum = 0, squares = 0;
    constexpr int seeds = 64;
    for (int seed = 0; seed < seeds; ++seed) {
      Request request = request_of(2, 256, 2);
      request.schedule.seed = static_cast<uint64_t>(seed);
      double idle = 0;
      for (const TimeTerms& terms : simulate_timed(request, parameters).phases)
        idle += terms.ns[static_cast<size_t>(TimeTerm::idle)];
      sum += idle;
      squares += idle * idle;
    }
    return std::sqrt(squares / seeds - sum * sum / seeds / seeds);
  };
  EXPECT_LT(spread_of_ends(true), spread_of_ends(false) / 2);
}

double mean_duration_ns(Request request, const WrongPhase& wrong) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.keep_step = true;
  parameters.step.wrong_phase = wrong;
  constexpr int seeds = 64;
  double sum = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    request.schedule.seed = static_cast<uint64_t>(seed);
    sum += duration_ns(request, parameters);
  }
  return sum / seeds;
}

// In the wrong phase for 64 steps in the mean a step takes half as long again: a third of that time
// is lost in a launch of 256 steps.
TEST(TimedWavefront, CtasThatAlternateAreSlowerWhereTheyMeetInTheWrongPhase) {
  const Request request = request_of(2, 256, 2);
  const double right_ns = mean_duration_ns(request, {});
  const WrongPhase met{.slowness = 0.5, .steps = 64, .met_share = 1};
  EXPECT_NEAR(mean_duration_ns(request, met) / right_ns, 1 + 64.0 / 3 / 256, 0.03);
  const WrongPhase none{.slowness = 0, .steps = 64, .met_share = 1};
  EXPECT_EQ(mean_duration_ns(request, none), right_ns);
}

// Items of one length keep the phase that their SM began with, where it does not end.
TEST(TimedWavefront, AWrongPhaseMayLast) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.keep_step = true;
  Request request = request_of(2, 256, 2);
  const double right_ns = duration_ns(request, parameters);
  parameters.step.wrong_phase = {.slowness = 0.5, .steps = 1e6, .met_share = 0.5};
  int wrong = 0, right = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    request.schedule.seed = seed;
    const double ratio = duration_ns(request, parameters) / right_ns;
    if (std::abs(ratio - 1.5) < 0.01) ++wrong;
    if (std::abs(ratio - 1) < 0.01) ++right;
  }
  EXPECT_EQ(wrong + right, 64);
  EXPECT_GT(wrong, 20);
  EXPECT_GT(right, 20);
}

// Each item that begins beside another one draws the phase of both anew: a quarter of them is slow,
// by half, for a time.
TEST(TimedWavefront, ItemsThatMeetDrawTheirPhase) {
  SmPhases phases({.slowness = 0.5, .steps = 10, .met_share = 0.25}, 1, 1, 7);
  int slow = 0, slow_later = 0;
  constexpr int items = 4000;
  for (int item = 0; item < items; ++item) {
    const double now_ns = 1000.0 * item;
    phases.meet(0, now_ns);
    const double slowness = phases.slowness(0, now_ns);
    EXPECT_TRUE(slowness == 0 || slowness == 0.5);
    slow += slowness > 0;
    slow_later += phases.slowness(0, now_ns + 10) > 0;
  }
  EXPECT_NEAR(double(slow) / items, 0.25, 0.03);
  EXPECT_NEAR(double(slow_later) / items, 0.25 / std::exp(1.0), 0.03);
}

// Behind each item that adds, the next one is faster by a half: of three items of four steps the
// first takes 4000 ns and the others 2000. Under grid each is a new CTA's first.
TEST(TimedWavefront, ItemsBehindSuchThatAddAreFaster) {
  TimedParameters parameters = plain_parameters(1);
  parameters.step.staggered = {.share = 1, .kept_share = 1, .gain = 0.5};
  Request request = request_of(3, 4, 1);
  EXPECT_NEAR(duration_ns(request, parameters), (4 + 2 + 2) * step_ns, 1e-6);
  request.schedule.launch = launch_id<GridLaunch>;
  EXPECT_NEAR(duration_ns(request, parameters), 3 * 4 * step_ns, 1e-6);
}

// Shares of a fifth and of a half make 0.2 / (0.2 + 0.5) of the items faster, two in turn as often
// as 0.5 of these.
TEST(ItemPace, StaysStaggeredByItsOwnShare) {
  const Staggered staggered{.share = 0.2, .kept_share = 0.5, .gain = 0.03, .gain_spread = 0.005};
  ItemPace pace(3);
  EXPECT_EQ(pace.factor(), 1);
  constexpr int items = 200000;
  int faster = 0, in_turn = 0;
  double gains = 0, squares = 0;
  bool was_faster = false;
  for (int item = 0; item < items; ++item) {
    pace.add(staggered);
    const double gain = 1 - pace.factor();
    const bool is_faster = gain > 0;
    faster += is_faster;
    in_turn += is_faster && was_faster;
    gains += gain;
    squares += gain * gain;
    was_faster = is_faster;
  }
  EXPECT_NEAR(double(faster) / items, 2.0 / 7, 0.005);
  EXPECT_NEAR(double(in_turn) / faster, 0.5, 0.02);
  const double mean = gains / faster;
  EXPECT_NEAR(mean, 0.03, 0.0005);
  EXPECT_NEAR(std::sqrt(squares / faster - mean * mean), 0.005, 0.0003);
}

}  // namespace
}  // namespace sawtooth::sim
