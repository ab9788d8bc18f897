// Which counters are read in which passes, and rows of dumps.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "cupti/status.hpp"
#include "experiments/sawtooth/counters/counter_dump.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
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

CsvRow keys() {
  return CsvRow(key_column_count, "k");
}
std::string cell(const CsvRow& row, size_t from_end) {
  return row[row.size() - from_end];
}

TEST(CounterDump, IsOneValueARowWithThePassThatCollectedIt) {
  const cupti::RangeReading range{"attention", {{"a.sum", 4294967296.0, 0}, {"b.pct", 12.5, 1}}};
  const auto rows = dump_rows(keys(), 2, range, {{"a.sum", "sector"}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(cell(rows[0], 6), "2");  // repetition
  EXPECT_EQ(cell(rows[0], 5), "1");  // replay passes count from 1
  EXPECT_EQ(cell(rows[0], 4), "a.sum");
  EXPECT_EQ(cell(rows[0], 3), "4294967296");  // whole, no exponent
  EXPECT_EQ(cell(rows[0], 2), "sector");
  EXPECT_EQ(cell(rows[0], 1), "ok");
  EXPECT_EQ(cell(rows[1], 5), "2");
  EXPECT_EQ(cell(rows[1], 3), "12.5");
  EXPECT_EQ(rows[0].front(), run_id(keys()));
}

TEST(CounterDump, HasAHeaderAsWideAsItsRows) {
  const auto rows = missing_rows(keys(), {"a.sum"}, "no-driver");
  const CsvTable table = parse_csv(dump_header() + csv_line(rows.front()), "dump");
  EXPECT_EQ(table.header.size(), rows.front().size());
}

TEST(CounterDump, AMissingValueIsEmptyWithAStatusAndNeverZero) {
  const auto missing = missing_rows(keys(), {"a.sum"}, "insufficient-privilege");
  EXPECT_EQ(cell(missing.front(), 3), "");
  EXPECT_EQ(cell(missing.front(), 1), "insufficient-privilege");
  const cupti::RangeReading range{"attention",
                                  {{"r.pct", std::numeric_limits<double>::quiet_NaN(), 0}}};
  const auto rows = dump_rows(keys(), 0, range, {});
  EXPECT_EQ(cell(rows.front(), 3), "");
  EXPECT_EQ(cell(rows.front(), 1), "no-value");
}

TEST(CounterDump, MetricsAreACommaSeparatedListOfAtLeastOne) {
  EXPECT_EQ(metric_list("a.sum,b.pct"), (std::vector<std::string>{"a.sum", "b.pct"}));
  EXPECT_THROW(metric_list(""), UsageError);
  EXPECT_THROW(metric_list(","), UsageError);
}

}  // namespace
}  // namespace sawtooth::experiments
