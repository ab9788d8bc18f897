#include <cmath>

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {
namespace {

sim::Prediction prediction(int64_t dram_reads) {
  sim::Prediction made;
  made.total.dram_read_sectors = dram_reads;
  made.total.sm_read_sectors = 1'000'000;
  made.time_us = 20;
  made.launches = {{made.total, 20}};
  return made;
}

CsvRow row_of(const sim::Prediction& made, const std::vector<IntervalWidth>& widths,
              const Keys& keys = {}) {
  CsvRow row(result_columns.size());
  Point point;
  point.keys = keys;
  point.judgement.intervals = widths;
  add_intervals({point, &made}, row);
  return row;
}

// All kinds of points alike.
IntervalWidth alike(const std::string& column, double h) {
  return {column, {h, h, h, h}, h, h};
}

const double ln2 = std::log(2.0);

TEST(Intervals, LieAroundThePredictionByAFactor) {
  const CsvRow row =
      row_of(prediction(101), {alike("dram_read_sectors", ln2), alike("time_us", ln2)});
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
  const CsvRow row = row_of(made, {{"dram_read_sectors", {}, 0, std::sqrt(2.0) / 2}});
  EXPECT_EQ(row[result_column("dram_read_sectors_low")], "50");
  EXPECT_EQ(row[result_column("dram_read_sectors_high")], "200");
}

// 300 sectors of 100 that must be read: 2.0 within, doubled in step, and so on.
TEST(Intervals, AreThoseOfTheKindOfPoint) {
  const std::vector<IntervalWidth> widths{
      {"dram_read_sectors", {ln2, 2 * ln2, 3 * ln2, 4 * ln2}, 0, 0}};
  const auto high = [&](int64_t reads, const char* mask, const char* order, const char* section) {
    sim::Prediction made = prediction(reads);
    made.total.cold_read_sectors = 100;
    Keys keys;
    for (const auto& [key, text] :
         {std::pair("mask", mask), {"q-order", order}, {"section", section}})
      find_option(key)->field.read(text, keys);
    return row_of(made, widths, keys)[result_column("dram_read_sectors_high")];
  };
  EXPECT_EQ(high(150, "causal", "ascending", "8"), "300");
  EXPECT_EQ(high(200, "none", "ascending", "1"), "800");
  EXPECT_EQ(high(200, "none", "ascending", "2"), "1600");
  EXPECT_EQ(high(200, "causal", "descending", "1"), "1600");
  EXPECT_EQ(high(200, "causal", "ascending", "1"), "3200");
  EXPECT_EQ(high(200, "window:64", "ascending", "1"), "3200");
}

TEST(Intervals, OfDurationsAreThoseOfTheirLength) {
  const std::vector<IntervalWidth> widths{{"time_us", {ln2, 2 * ln2, 3 * ln2, 4 * ln2}, 0, 0}};
  const auto high = [&](double duration_us) {
    sim::Prediction made = prediction(100);
    made.time_us = made.launches.front().time_us = duration_us;
    return row_of(made, widths)[result_column("time_us_high")];
  };
  EXPECT_EQ(high(199), "398.00");
  EXPECT_EQ(high(200), "800.00");
  EXPECT_EQ(high(9'999), "39996.00");
  EXPECT_EQ(high(10'000), "80000.00");
  EXPECT_EQ(high(30'000), "480000.00");
}

TEST(Intervals, EndAtWhatIsCompulsoryAndAtWhatSmsRead) {
  sim::Prediction made = prediction(120);
  made.total.cold_read_sectors = 100;
  made.total.sm_read_sectors = 200;
  made.total.l2_read_miss_sectors = made.launches.front().total.l2_read_miss_sectors = 120;
  const CsvRow row =
      row_of(made, {alike("dram_read_sectors", ln2), alike("l2_read_miss_sectors", ln2)});
  for (const size_t low :
       {result_column("dram_read_sectors_low"), result_column("l2_read_miss_sectors_low")}) {
    EXPECT_EQ(row[low], "100");
    EXPECT_EQ(row[low + 1], "200");
  }
}

TEST(Intervals, AreMissingWhereNothingIsPredicted) {
  EXPECT_EQ(row_of(prediction(100), {}), CsvRow(result_columns.size()));
  EXPECT_EQ(row_of(prediction(0), {alike("dram_read_sectors", 1)}), CsvRow(result_columns.size()));
  EXPECT_EQ(row_of(prediction(100), {alike("dram_write_sectors", 1)}),
            CsvRow(result_columns.size()));
  sim::Prediction no_time = prediction(100);
  no_time.time_us.reset();
  EXPECT_EQ(row_of(no_time, {alike("time_us", 1)}), CsvRow(result_columns.size()));
  sim::Prediction lockstep = prediction(100);
  lockstep.launches.clear();
  EXPECT_EQ(row_of(lockstep, {alike("dram_read_sectors", 1)}), CsvRow(result_columns.size()));
}

}  // namespace
}  // namespace sawtooth::experiments
