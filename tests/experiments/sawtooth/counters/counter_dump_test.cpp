#include "experiments/sawtooth/counters/counter_dump.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

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
