#include <gtest/gtest.h>

#include "sim/timed/parameters.hpp"
#include "sim/timed/simulate_timed.hpp"

namespace sawtooth::sim {
namespace {

constexpr double ms = 1e6;

// Half of the timed launch is over after 3.5 launches: of 10 ms after 35 ms, of 20 ms after 70 ms.
TEST(PowerLimit, TheClockIsFullUntilTheDelayAndStandsAfterTheFall) {
  const PowerLimit limit{.delay_ns = 35 * ms, .fall_ns = 50 * ms, .slowness = 0.12};
  EXPECT_EQ(limit.slower_launch(1 * ms, 3.5), 1);
  EXPECT_EQ(limit.slower_launch(10 * ms, 3.5), 1);
  EXPECT_NEAR(limit.slower_launch(20 * ms, 3.5), 1 + 0.12 * 35 / 50, 1e-12);
  EXPECT_NEAR(limit.slower_launch(25 * ms, 3.5), 1.12, 1e-12);
  EXPECT_NEAR(limit.slower_launch(100 * ms, 3.5), 1.12, 1e-12);
}

TEST(PowerLimit, AKernelBelowItTakesItsTime) {
  EXPECT_EQ((PowerLimit{.delay_ns = 35 * ms, .fall_ns = 50 * ms}.slower_launch(100 * ms, 3.5)), 1);
}

TEST(PowerLimit, WithoutAFallTheClockFallsAtOnce) {
  const PowerLimit limit{.delay_ns = 35 * ms, .slowness = 0.1};
  EXPECT_EQ(limit.slower_launch(10 * ms, 3.5), 1);
  EXPECT_DOUBLE_EQ(limit.slower_launch(11 * ms, 3.5), 1.1);
}

// The clock is full for 35 ms and has fallen by (t - 35) / 50 until 85 ms: on average by half of it
// between these, and from 35 to 135 ms by (25 + 50) / 100.
TEST(PowerLimit, ACallInALoadTakesTheClockOfItsTime) {
  const PowerLimit limit{.delay_ns = 35 * ms, .fall_ns = 50 * ms, .slowness = 0.12};
  EXPECT_EQ(limit.slower(5 * ms, 35 * ms), 1);
  EXPECT_NEAR(limit.slower(35 * ms, 85 * ms), 1.06, 1e-12);
  EXPECT_NEAR(limit.slower(35 * ms, 135 * ms), 1 + 0.12 * 0.75, 1e-12);
  EXPECT_NEAR(limit.slower(200 * ms, 300 * ms), 1.12, 1e-12);
  const PowerLimit at_once{.delay_ns = 35 * ms, .slowness = 0.1};
  EXPECT_NEAR(at_once.slower(0, 70 * ms), 1.05, 1e-12);
  EXPECT_EQ((PowerLimit{.delay_ns = 35 * ms}.slower(0, 70 * ms)), 1);
}

TEST(PowerLimit, SaysHowFarTheClockHasFallen) {
  const PowerLimit limit{.delay_ns = 35 * ms, .fall_ns = 50 * ms, .slowness = 0.12};
  EXPECT_EQ(limit.fallen(0, 35 * ms), 0);
  EXPECT_NEAR(limit.fallen(35 * ms, 85 * ms), 0.5, 1e-12);
  EXPECT_NEAR(limit.fallen(85 * ms, 100 * ms), 1, 1e-12);
  EXPECT_EQ(limit.fallen(90 * ms, 90 * ms), 0);
  EXPECT_EQ((PowerLimit{.delay_ns = 35 * ms}.fallen(0, 70 * ms)), 0);
}

// Equal steps of 1 ms, 30 of an item: the same launch at the full clock and under the limit.
TEST(PowerLimit, MovesTheDurationAndItsTermsAndNoCount) {
  Request request;
  request.problem = {.seq_q = 64, .seq_kv = 30 * 64};
  request.timing = Timing::timed;
  request.l2_bytes = int64_t{1} << 20;
  request.load.launches = 3.5;
  TimedParameters parameters;
  parameters.sms = 1;
  parameters.l2.lines.capacity_lines = 8192;
  parameters.step.fixed_ns = 1 * ms;
  const Prediction full = simulate_timed(request, parameters);
  parameters.power = {.delay_ns = 35 * ms, .fall_ns = 50 * ms, .slowness = 0.25};
  const Prediction limited = simulate_timed(request, parameters);
  EXPECT_NEAR(*full.time_us, 30'000, 30);
  EXPECT_NEAR(*limited.time_us, 1.25 * *full.time_us, 1e-6 * *full.time_us);
  EXPECT_EQ(limited.total.dram_read_sectors, full.total.dram_read_sectors);
  const auto sum = [](const Prediction& prediction) {
    double ns = 0;
    for (const TimeTerms& terms : prediction.phases)
      for (const double term : terms.ns) ns += term;
    return ns;
  };
  EXPECT_NEAR(sum(limited), 1.25 * sum(full), 1e-6 * sum(full));
}

}  // namespace
}  // namespace sawtooth::sim
