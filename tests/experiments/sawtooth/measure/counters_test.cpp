// Which counters are read in which passes, rows of dumps, and wavefronts as they were measured.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "cupti/status.hpp"
#include "experiments/sawtooth/counters/counter_dump.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/measure/measured_wavefront.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/text.hpp"
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

bool operator==(const WavefrontStep& a, const WavefrontStep& b) {
  return a.step == b.step && a.worker == b.worker && a.item == b.item && a.q_tile == b.q_tile &&
         a.kv_tile == b.kv_tile;
}

RecordedStep record(int64_t worker, int64_t item, int64_t step, int64_t start_ns, int64_t sm = 0) {
  RecordedStep at;
  at.worker = worker;
  at.item = item;
  at.step = step;
  at.kv_tile = 10 * item + step;  // told apart by item and step
  at.sm = sm;
  at.start_ns = start_ns;
  return at;
}

// Four workers, six items of five tiles: two workers have a second item. Steps of 700 ns.
TEST(MeasuredWavefront, OfALaunchInLockstepIsTheSimulatorsOwn) {
  sim::Request request;
  request.problem = {.batch = 1,
                     .heads = 1,
                     .kv_heads = 1,
                     .seq_q = 6 * 64,
                     .seq_kv = 5 * 64,
                     .head_dim = 64,
                     .dtype = ElementType::bf16,
                     .mask = {MaskKind::none, 0}};
  request.tiling = {64, 64};
  request.schedule.launch = launch_id<StaticLaunch>;
  request.schedule.scan = scan_id<SawtoothScan>;
  request.schedule.workers = 4;
  const std::vector<WavefrontStep> predicted = wavefront_steps(request, 100).steps;
  ASSERT_EQ(predicted.size(), 30u);
  std::vector<RecordedStep> recorded;
  for (const WavefrontStep& at : predicted) {
    RecordedStep step = record(at.worker, at.item, at.step % 5, 700 * at.step);
    step.q_tile = at.q_tile;
    step.kv_tile = at.kv_tile;
    recorded.push_back(step);
  }
  EXPECT_EQ(median_step_ns(recorded), 700);
  const std::vector<WavefrontStep> sampled = sampled_wavefront(recorded, 100, false);
  ASSERT_EQ(sampled.size(), predicted.size());
  for (size_t i = 0; i < sampled.size(); ++i) EXPECT_TRUE(sampled[i] == predicted[i]) << i;
}

// Worker 0 steps at 0, 100, 200, 300; worker 1 starts at 150 and needs 200 for its first tile:
// differences 100, 100, 100, 200, so the unit is 100. At 0 and 100 worker 1 is not there, at 200
// and 300 it stands at its first tile, at 400 at the second, which began at 350.
TEST(MeasuredWavefront, ShowsALateAndSlowWorkerWhereItStoodAtEachTime) {
  const std::vector<RecordedStep> recorded = {record(0, 0, 0, 0),   record(0, 0, 1, 100),
                                              record(0, 0, 2, 200), record(0, 0, 3, 300),
                                              record(1, 1, 0, 150), record(1, 1, 1, 350)};
  std::vector<std::array<int64_t, 3>> seen;  // step, worker, tile
  for (const WavefrontStep& at : sampled_wavefront(recorded, 6, false))
    seen.push_back({at.step, at.worker, at.kv_tile});
  EXPECT_EQ(seen,
            (std::vector<std::array<int64_t, 3>>{
                {0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {2, 1, 10}, {3, 0, 3}, {3, 1, 10}, {4, 1, 11}}));
}

// CTAs 0 and 1 start on SMs 7 and 9; CTA 2 follows CTA 0 on SM 7; CTA 3 joins SM 9 while CTA 1 is
// still there, and so has a slot of its own.
TEST(MeasuredWavefront, UnderGridCtasThatFollowEachOtherOnAnSmAreOneWorker) {
  const std::vector<RecordedStep> recorded = {
      record(0, 0, 0, 0, 7),   record(0, 0, 1, 100, 7), record(1, 1, 0, 10, 9),
      record(1, 1, 1, 110, 9), record(1, 1, 2, 210, 9), record(2, 2, 0, 200, 7),
      record(2, 2, 1, 300, 7), record(3, 3, 0, 120, 9), record(3, 3, 1, 220, 9)};
  std::map<int64_t, std::set<int64_t>> items_of_worker;
  for (const WavefrontStep& at : sampled_wavefront(recorded, 10, true))
    items_of_worker[at.worker].insert(at.item);
  EXPECT_EQ(items_of_worker,
            (std::map<int64_t, std::set<int64_t>>{{0, {0, 2}}, {1, {1}}, {2, {3}}}));
}

TEST(MeasuredWavefront, OfOneStepHasAUnitAndOneCell) {
  EXPECT_EQ(median_step_ns({record(0, 0, 0, 0)}), 1);
  EXPECT_EQ(sampled_wavefront({record(0, 0, 0, 0)}, 5, false).size(), 1u);
  EXPECT_TRUE(sampled_wavefront({}, 5, false).empty());
}

// Memory follows the stamps, not the time between them.
TEST(MeasuredWavefront, AGapOfManyStepsIsRefused) {
  const int64_t far_ns = int64_t{1} << 50;
  const std::vector<RecordedStep> recorded = {record(8, 0, 0, 0), record(8, 0, 1, 1),
                                              record(8, 0, 2, 2), record(8, 0, 3, far_ns)};
  EXPECT_THROW(sampled_wavefront(recorded, far_ns, false), UsageError);
}

TEST(ItemTrace, HasARowAnItemWithTheColumnsOfItsHeader) {
  const CsvRow key_cells(result_columns.size());
  const std::string row = item_trace_rows(
      key_cells, 2,
      {{.worker = 17, .items_before = 3, .item = 411, .steps = 96, .start_ns = 5120}});
  EXPECT_NE(row.find(",2,17,3,411,96,5120\n"), std::string::npos) << row;
  const std::string header = item_trace_header();
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(row.begin(), row.end(), ','));
}

TEST(OrderTrace, HasARowAStepWithTheColumnsOfItsHeader) {
  CsvRow key_cells(result_columns.size());
  key_cells[result_column("scan")] = "sawtooth";
  RecordedStep at = record(3, 17, 2, 4711, 5);
  at.items_before = 4;
  const std::string row = order_trace_rows(key_cells, {at});
  EXPECT_NE(row.find(",sawtooth,3,4,17,2,0,0,0,172,5,4711\n"), std::string::npos) << row;
  const std::string header = order_trace_header();
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), std::count(row.begin(), row.end(), ','));
}

}  // namespace
}  // namespace sawtooth::experiments
