#include "experiments/sawtooth/measure/counter_plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "cupti/status.hpp"
#include "tests/cupti/host_available.hpp"

namespace sawtooth::experiments {
namespace {

const PlannedCounter& counter(const CounterPlan& plan, std::string_view column) {
  const auto found = std::find_if(plan.counters.begin(), plan.counters.end(),
                                  [&](const PlannedCounter& c) { return c.column == column; });
  EXPECT_NE(found, plan.counters.end()) << column;
  return *found;
}

class CounterPlanOfChips : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cupti::why_not_under_sanitizer();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(CounterPlanOfChips, EveryColumnHasAMetricOrAReason) {
  for (const cupti::ChipInfo& chip : cupti::chips_with_table()) {
    for (const PlannedCounter& planned : plan_results(chip.name).counters) {
      EXPECT_NE(planned.metric.empty(), planned.reason.empty()) << chip.name << planned.column;
    }
  }
}

TEST_F(CounterPlanOfChips, WitnessesStandInEveryPassAndMissesApartFromTotals) {
  const CounterPlan plan = plan_results("GH100");
  if (!plan.problem.empty()) GTEST_SKIP() << plan.problem;
  EXPECT_EQ(counter(plan, "dram_read_sectors").passes.size(), static_cast<size_t>(plan.passes));
  EXPECT_EQ(counter(plan, "sm_read_sectors").passes.size(), static_cast<size_t>(plan.passes));
  EXPECT_NE(counter(plan, "l2_read_sectors").passes, counter(plan, "l2_read_miss_sectors").passes);
}

TEST_F(CounterPlanOfChips, Gb10HasNoDramCountersAndBothFills) {
  const CounterPlan plan = plan_results("GB20B");
  EXPECT_TRUE(counter(plan, "dram_read_sectors").metric.empty());
  EXPECT_FALSE(counter(plan, "fill_device_sectors").metric.empty());
  EXPECT_FALSE(counter(plan, "fill_system_sectors").metric.empty());
}

TEST(CounterPlan, AChipWithoutATableIsRefused) {
  const std::string reason = cupti::why_not_under_sanitizer();
  if (!reason.empty()) GTEST_SKIP() << reason;
  EXPECT_THROW(plan_results("GH999"), cupti::CounterError);
}

}  // namespace
}  // namespace sawtooth::experiments
