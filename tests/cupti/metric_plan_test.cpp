#include <map>

#include <gtest/gtest.h>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "tests/cupti/host_available.hpp"

namespace sawtooth::cupti {
namespace {

using MetricPlanOnHostApi = HostApiTest;

MetricPlan results_plan(std::string_view chip) {
  return plan_metrics(std::string(chip), metrics_for(chip, result_counters()),
                      metrics_for(chip, witness_counters()));
}

TEST_F(MetricPlanOnHostApi, EveryMetricIsCollectedOnceAndEveryWitnessInEveryPass) {
  for (const ChipInfo& chip : chips_with_table()) {
    const MetricPlan plan = results_plan(chip.name);
    std::map<std::string, int> times;
    for (const MetricGroup& group : plan.groups) {
      EXPECT_EQ(group.passes(), 1) << chip.name;
      for (const std::string& metric : group.metrics()) ++times[metric];
    }
    const auto metrics = metrics_for(chip.name, result_counters());
    for (const std::string& metric : metrics) EXPECT_EQ(times[metric], 1) << chip.name << metric;
    const auto witnesses = metrics_for(chip.name, witness_counters());
    for (const std::string& metric : witnesses)
      EXPECT_EQ(times[metric], static_cast<int>(plan.groups.size())) << chip.name << metric;
    EXPECT_EQ(plan.passes(), static_cast<int64_t>(plan.groups.size()));
  }
}

// Misses in one pass, totals in the next: with the witnesses that is what a row of results needs.
TEST_F(MetricPlanOnHostApi, ARowOfResultsTakesTwoPassesOnAnH200) {
  const std::vector<std::string> metrics{
      std::string(metric_for("GH100", L2Counter::l2_read_miss).metric),
      std::string(metric_for("GH100", L2Counter::fabric_read_miss).metric),
      std::string(metric_for("GH100", L2Counter::dram_write).metric),
      std::string(metric_for("GH100", L2Counter::l2_read).metric),
      std::string(metric_for("GH100", L2Counter::fabric_read).metric)};
  EXPECT_EQ(plan_metrics("GH100", metrics, metrics_for("GH100", witness_counters())).passes(), 2);
}

TEST_F(MetricPlanOnHostApi, DuplicatesAreCollectedOnce) {
  const MetricPlan plan =
      plan_metrics("GH100", {"lts__t_sectors.sum", "lts__t_sectors.sum"}, {"lts__t_sectors.sum"});
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].metrics(), std::vector<std::string>{"lts__t_sectors.sum"});
}

TEST_F(MetricPlanOnHostApi, AnUnknownMetricIsRefusedByName) {
  EXPECT_THROW(plan_metrics("GH100", {"no_such_metric.sum"}), CounterError);
}

TEST(MetricPlan, NothingToCollectIsRefused) {
  EXPECT_THROW(plan_metrics("GH100", {}), std::invalid_argument);
}

TEST_F(MetricPlanOnHostApi, AMetricThatCannotBeReadIsDroppedWithItsStatusAndCostsNoOther) {
  const MetricPlan plan = plan_metrics("GH100", {"no_such.sum", "lts__t_sectors_op_read.sum"},
                                       {"dram__sectors_read.sum"}, {}, BadMetrics::drop);
  ASSERT_EQ(plan.dropped.size(), 1u);
  EXPECT_EQ(plan.dropped.front().metric, "no_such.sum");
  EXPECT_EQ(plan.dropped.front().status, Status::unknown_metric);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups.front().metrics(),
            (std::vector<std::string>{"dram__sectors_read.sum", "lts__t_sectors_op_read.sum"}));
  EXPECT_THROW(plan_metrics("GH100", {"no_such.sum", "lts__t_sectors_op_read.sum"}), CounterError);
  EXPECT_THROW(plan_metrics("GH100", {"no_such.sum"}, {}, {}, BadMetrics::drop), CounterError);
}

}  // namespace
}  // namespace sawtooth::cupti
