#include "experiments/sawtooth/results/intervals.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/columns.hpp"

namespace sawtooth::experiments {
namespace {

sim::Prediction prediction(int64_t dram_reads) {
  sim::Prediction made;
  made.total.dram_read_sectors = dram_reads;
  made.total.sm_read_sectors = 1000;
  made.time_us = 20;
  made.launches = {{made.total, 20}};
  return made;
}

CsvRow row_of(const sim::Prediction& made, const std::vector<IntervalWidth>& widths) {
  CsvRow row(result_columns.size());
  add_intervals(made, widths, row);
  return row;
}

const double ln2 = std::log(2.0);

TEST(Intervals, LieAroundThePredictionByAFactor) {
  const CsvRow row =
      row_of(prediction(101), {{"dram_read_sectors", ln2, 0, 0}, {"time_us", ln2, 0, 0}});
  EXPECT_EQ(row[result_column("dram_read_sectors_low")], "50");  // 50.5, outwards
  EXPECT_EQ(row[result_column("dram_read_sectors_high")], "202");
  EXPECT_EQ(row[result_column("time_us_low")], "10.00");
  EXPECT_EQ(row[result_column("time_us_high")], "40.00");
}

// The median launch has 100; the spread, and so the width, is that of 100 and 400: ln 4 / sqrt(2).
TEST(Intervals, AreAsWideAsLaunchesDiffer) {
  sim::Prediction made = prediction(100);
  made.launches.push_back(made.launches.front());
  made.launches.back().total.dram_read_sectors = 400;
  const CsvRow row = row_of(made, {{"dram_read_sectors", 0, 0, std::sqrt(2.0) / 2}});
  EXPECT_EQ(row[result_column("dram_read_sectors_low")], "50");
  EXPECT_EQ(row[result_column("dram_read_sectors_high")], "200");
}

TEST(Intervals, AreMissingWhereNothingIsPredicted) {
  EXPECT_EQ(row_of(prediction(100), {}), CsvRow(result_columns.size()));
  EXPECT_EQ(row_of(prediction(0), {{"dram_read_sectors", 1, 1, 1}}), CsvRow(result_columns.size()));
  EXPECT_EQ(row_of(prediction(100), {{"dram_write_sectors", 1, 1, 1}}),
            CsvRow(result_columns.size()));
  sim::Prediction no_time = prediction(100);
  no_time.time_us.reset();
  EXPECT_EQ(row_of(no_time, {{"time_us", 1, 1, 1}}), CsvRow(result_columns.size()));
  sim::Prediction lockstep = prediction(100);
  lockstep.launches.clear();
  EXPECT_EQ(row_of(lockstep, {{"dram_read_sectors", 1, 1, 1}}), CsvRow(result_columns.size()));
}

}  // namespace
}  // namespace sawtooth::experiments
