// The backward pass in time: durations derived by hand, turns of dq = ordered, and the counts of
// lockstep where nothing takes time but equal steps.
#include <cmath>
#include <stdexcept>

#include "sim/halves/halves_in_step.hpp"
#include "tests/sim/timed/plain_steps.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

// Tiles of one row of one line: five products of 2 x 1 x 1 x 64 FLOP a step.
constexpr double backward_flop_a_step = 640;
constexpr double way_ns = 100;         // to L2 and back
constexpr double dq_ns = step_ns / 5;  // one of the products
// Under dq = ordered a step's CTA reads its turn's word, fences, and reads the word again; the word
// then takes half a way to be written and a whole one to reach the CTA that waits.
constexpr double ordered_ns = 3 * way_ns;
constexpr double turn_ns = dq_ns + 2 * way_ns + 1.5 * way_ns;

Request backward_of(int64_t q_tiles, int64_t kv_tiles, int64_t workers, Dq dq = Dq::atomic) {
  Request request = request_of(q_tiles, kv_tiles, workers);
  request.problem.pass = Pass::backward;
  request.schedule.dq = dq;
  return request;
}

TimedParameters parameters_of(int64_t sms) {
  TimedParameters parameters = plain_parameters(sms);
  parameters.l2.near_ns = parameters.l2.far_ns = parameters.l2.dram_ns = way_ns;
  parameters.step.tensor_flop_a_ns = backward_flop_a_step / step_ns;
  return parameters;
}

// Steps wait for the first loads alone; no worker waits for an addition.
TEST(TimedBackward, AnItemTakesItsStepsOverAllHeadsOfItsGroup) {
  Request request = backward_of(5, 1, 1);
  EXPECT_NEAR(duration_ns(request, parameters_of(1)), way_ns + 5 * step_ns, 1e-6);
  request.problem.heads = 3;
  EXPECT_NEAR(duration_ns(request, parameters_of(1)), way_ns + 3 * 5 * step_ns, 1e-6);
}

// One stage, and every step's tiles and sums are read from DRAM: a step of T ns reads its bytes at
// a load of bytes / T / bandwidth, and its tiles come late by that share of `dram_late_ns` in the
// mean. T = step + way + late x bytes / (T x bandwidth).
TEST(TimedBackward, WhatComesFromDramIsLateInProportionToItsLoad) {
  constexpr int64_t steps = 20000;
  constexpr double late_ns = 30000, bandwidth = 4;
  const Request request = backward_of(steps, 1, 1);
  TimedParameters parameters = parameters_of(1);
  parameters.step.stages = 1;
  parameters.l2.dram_bytes_a_ns = bandwidth;
  parameters.l2.dram_window_ns = 50'000;
  const Prediction in_time = simulate_timed(request, parameters);
  const double bytes = 32.0 * double(*in_time.total.dram_read_sectors) / double(steps);
  const double passes_ns = bytes / bandwidth;  // loads stand behind the fills of the step before
  const double least_ns = step_ns + way_ns + passes_ns;
  EXPECT_NEAR(*in_time.time_us * 1000 / double(steps), least_ns, 0.05 * least_ns);
  parameters.step.dram_late_ns = late_ns;
  const double late_a_step = late_ns * bytes / bandwidth;  // x 1 / T
  const double expected_ns = (least_ns + std::sqrt(least_ns * least_ns + 4 * late_a_step)) / 2;
  EXPECT_NEAR(duration_ns(request, parameters) / double(steps), expected_ns, 0.05 * expected_ns);
  parameters.l2.dram_bytes_a_ns = 0;
  parameters.l2.dram_window_ns = 50'000;  // without limit, and without load
  EXPECT_NEAR(duration_ns(request, parameters) / double(steps), step_ns + way_ns, 1);
}

// A second item finds all in L2 that the first one has read.
TEST(TimedBackward, WhatL2HoldsIsNotLate) {
  constexpr int64_t steps = 500;
  TimedParameters parameters = parameters_of(1);
  parameters.step.stages = 1;
  parameters.step.dram_late_ns = 30000;
  parameters.l2.dram_bytes_a_ns = 4;
  parameters.l2.dram_window_ns = 50'000;
  const double one = duration_ns(backward_of(steps, 1, 1), parameters);
  const double two = duration_ns(backward_of(steps, 2, 1), parameters);
  EXPECT_NEAR(two - one, double(steps) * (step_ns + way_ns), 3 * way_ns);
}

// All items begin at Q tile 0. Item i is in turn when the item before has computed its dQ, has sent
// it, and the word has come: from then on it is so far behind at every tile, and waits no more.
TEST(TimedBackward, InOrderItemsFollowEachOtherAtADistanceOfATurn) {
  for (const int64_t items : {1, 2, 7}) {
    const double atomic = duration_ns(backward_of(9, items, items), parameters_of(items));
    EXPECT_NEAR(atomic, way_ns + 9 * step_ns, 1e-6);
    const double ordered =
        duration_ns(backward_of(9, items, items, Dq::ordered), parameters_of(items));
    EXPECT_NEAR(ordered, way_ns + 9 * (step_ns + ordered_ns) + double(items - 1) * turn_ns, 1e-6);
  }
}

// A fence waits for additions that stand before their SM's port; without one no step does.
TEST(TimedBackward, InOrderAStepTakesAsLongAsItsAdditionsPassThePort) {
  constexpr double pass_ns = 50, bytes = 64 * sizeof(float);  // one row of dQ
  TimedParameters parameters = parameters_of(1);
  parameters.l2.port_bytes_a_ns = bytes / pass_ns;
  const double atomic = duration_ns(backward_of(9, 1, 1), parameters);
  const double ordered = duration_ns(backward_of(9, 1, 1, Dq::ordered), parameters);
  EXPECT_NEAR(ordered - atomic, 9 * (ordered_ns + pass_ns), 1e-6);
}

// Causal, the shortest first: each item begins at the Q tile that no item before it sees, and is a
// step behind the one before at all others.
TEST(TimedBackward, InOrderCausalItemsFromTheShortestOnNeverWait) {
  Request request = backward_of(8, 8, 8, Dq::ordered);
  request.problem.mask.kind = MaskKind::causal;
  request.schedule.order.q_order = q_order_id<DescendingQ>;
  EXPECT_NEAR(duration_ns(request, parameters_of(8)), way_ns + 8 * (step_ns + ordered_ns), 1e-6);
  // From the longest on all meet at the last Q tiles, in a row.
  request.schedule.order.q_order = q_order_id<AscendingQ>;
  EXPECT_GT(duration_ns(request, parameters_of(8)), way_ns + 8 * (step_ns + ordered_ns) + 1);
}

// Two of four CTAs run at once. With an item each, those that come later are awaited by no other;
// with two, the first one's second item waits for items of CTAs that begin when it ends.
TEST(TimedBackward, RefusesCtasThatWaitForOnesThatHaveNotBegun) {
  TimedParameters parameters = parameters_of(2);
  parameters.resident_ctas = 1;
  EXPECT_GT(duration_ns(backward_of(4, 4, 4, Dq::ordered), parameters), 0);
  EXPECT_THROW(simulate_timed(backward_of(4, 8, 4, Dq::ordered), parameters),
               std::invalid_argument);
}

TEST(TimedBackward, RefusesWhatIsNoPartOfTheMainKernel) {
  Request request = backward_of(4, 4, 4, Dq::separate);
  EXPECT_THROW(simulate_timed(request, parameters_of(4)), std::invalid_argument);
  request.schedule.dq = Dq::ordered;
  request.schedule.small_kernels = true;
  EXPECT_THROW(simulate_timed(request, parameters_of(4)), std::invalid_argument);
  request.schedule = backward_of(4, 4, 4).schedule;
  TimedParameters with_leads = parameters_of(4);
  with_leads.step.leads = Leads{1, 1};
  EXPECT_THROW(simulate_timed(request, with_leads), std::invalid_argument);
}

// Where all steps take the same time and nothing else takes any, workers keep step.
RC_GTEST_PROP(TimedBackward, CountsWhatLockstepCountsWhereStepsAreAllThatTakesTime, ()) {
  const int64_t workers = tests::between(1, 4);
  Request request = backward_of(tests::between(1, 12), workers * tests::between(1, 3), workers);
  request.problem.heads = request.problem.kv_heads * tests::between(1, 2);
  request.schedule.scan = tests::between(0, 1) == 0 ? scan_id<LinearScan> : scan_id<SawtoothScan>;
  TimedParameters parameters = parameters_of(workers);
  parameters.l2.near_ns = parameters.l2.far_ns = parameters.l2.dram_ns = 0;
  // Several workers read and add in another order within a step: only what is evicted tells that.
  if (workers == 1) parameters.l2.lines.capacity_lines = tests::between(20, 120);
  parameters.step.stages = 1;  // a step's tiles are asked for when it begins, as in lockstep
  const Counters timed = simulate_timed(request, parameters).total;
  request.timing = Timing::lockstep;
  const Counters lockstep = simulate_halves(request, parameters.l2.lines, {}).total;
  RC_ASSERT(timed.sm_read_sectors == lockstep.sm_read_sectors);
  RC_ASSERT(timed.l2_reduction_sectors == lockstep.l2_reduction_sectors);
  RC_ASSERT(timed.l2_write_sectors == lockstep.l2_write_sectors);
  RC_ASSERT(timed.dram_read_sectors == lockstep.dram_read_sectors);
  RC_ASSERT(timed.dram_write_sectors == lockstep.dram_write_sectors);
  RC_ASSERT(timed.cold_read_sectors == lockstep.cold_read_sectors);
}

}  // namespace
}  // namespace sawtooth::sim
