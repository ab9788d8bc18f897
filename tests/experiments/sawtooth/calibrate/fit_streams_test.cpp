#include "experiments/sawtooth/calibrate/fit_streams.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/calibrate/least_squares.hpp"
#include "experiments/sawtooth/calibrate/stream_readings.hpp"
#include "experiments/sawtooth/calibrate/stream_table.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {
namespace {

using kernels::StreamAccess;

constexpr int64_t l2_bytes = int64_t{60} << 20;
constexpr int64_t sms = 132;
const std::string measured = SAWTOOTH_EXPERIMENTS_DIR "/data/h200/streams/";

StreamFit recorded_fit(const std::string& path) {
  const CsvTable table = read_csv(path);
  std::vector<Figure> figures;
  for (const auto& row : table.rows) {
    figures.push_back({row[*table.column("name")], std::stod(row[*table.column("value")]), "", ""});
  }
  return fit_from_figures(figures, l2_bytes, sms);
}

// 14 sizes of same, shift and all by loads, 7 of same and all by bulk copies; linear and reversed.
// Bulk copies' own repetitions differ by more than 0.03 in who comes first (docs/two-half-l2.md),
// so an error inside the range of a point's repetitions is none, as compare has it.
TEST(H200Streams, EverySecondPassOfOurReadingsIsWithinTolerance) {
  const StreamFit fit = recorded_fit(measured + "fit.csv");
  const std::vector<StreamRow> rows = read_stream_csv(measured + "stream_counters.csv");
  const StreamJudgement judgement =
      judge_streams(fit, rows, l2_bytes, [](const StreamPoint&) { return true; });
  EXPECT_EQ(judgement.points, 2 * (3 * 14 + 2 * 7));
  EXPECT_EQ(judgement.compared.within, judgement.points) << judgement.compared.worst;
}

// The distance to the median, without regard to scatter: loads are within everywhere.
TEST(H200Streams, EverySecondPassOfOurReadingsByLoadsIsWithinToleranceOfTheMedian) {
  const StreamJudgement judgement = judge_streams(
      recorded_fit(measured + "fit.csv"), read_stream_csv(measured + "stream_counters.csv"),
      l2_bytes, [](const StreamPoint& point) { return point.access == StreamAccess::ld; });
  EXPECT_EQ(judgement.points, 2 * 3 * 14);
  EXPECT_EQ(judgement.plain.within, judgement.points) << judgement.plain.worst;
}

// DRAM reads alone.
TEST(H200Streams, DramReadsOfOurReadingsAreWithinTolerance) {
  const StreamFit fit = recorded_fit(measured + "fit.csv");
  const auto rows = read_stream_csv(measured + "stream_counters.csv");
  const auto modelled = stream_readings(model_rows(fit, rows));
  const auto readings = stream_readings(rows);
  ASSERT_EQ(modelled.size(), readings.size());
  for (size_t i = 0; i < readings.size(); ++i) {
    EXPECT_NEAR(modelled[i].shares.dram, readings[i].shares.dram,
                stream_tolerances(readings[i].point, l2_bytes).dram)
        << name_of(readings[i].point);
  }
}

// That table has means of its repetitions only, so that there is no range to forgive.
TEST(H200Streams, EverySecondPassOfTheOtherReadingsIsWithinTolerance) {
  const StreamJudgement judgement =
      judge_streams(recorded_fit(measured + "five_pass_fit.csv"),
                    read_stream_csv(measured + "five_pass_counters.csv"), l2_bytes,
                    [](const StreamPoint&) { return true; });
  EXPECT_EQ(judgement.points, 68);
  EXPECT_EQ(judgement.plain.within, judgement.points) << judgement.plain.worst;
}

// A line fitted to three points by hand: y = 1 + 2 x through (0, 1), (1, 3), (2, 5); a bound at 1.5
// holds the slope there, and the best intercept is then 3 - 1.5 = 1.5.
TEST(LeastSquares, FindsALineAndKeepsToABound) {
  const Residuals line = [](const std::vector<FreeParameter>& p) {
    std::vector<double> off;
    for (const double x : {0.0, 1.0, 2.0}) off.push_back(p[0].value + p[1].value * x - (1 + 2 * x));
    return off;
  };
  std::vector<FreeParameter> free{{"intercept", 0, -10, 10, 0.1}, {"slope", 0, -10, 10, 0.1}};
  EXPECT_LT(minimise(free, line, 50), 1e-6);
  EXPECT_NEAR(free[0].value, 1, 1e-3);
  EXPECT_NEAR(free[1].value, 2, 1e-3);
  std::vector<FreeParameter> bound{{"intercept", 0, -10, 10, 0.1}, {"slope", 0, -10, 1.5, 0.1}};
  minimise(bound, line, 50);
  EXPECT_NEAR(bound[0].value, 1.5, 0.02);
  EXPECT_EQ(bound[1].value, 1.5);
}

TEST(LeastSquares, FewerReadingsThanParametersAreRefused) {
  std::vector<FreeParameter> free{{"a", 0, 0, 1, 0.1}, {"b", 0, 0, 1, 0.1}};
  const Residuals one = [](const std::vector<FreeParameter>&) { return std::vector{1.0}; };
  EXPECT_THROW(minimise(free, one, 1), std::invalid_argument);
}

TEST(FitStreams, NumbersAreReadBackAsTheyWereWritten) {
  StreamFit fit;
  fit.l2.ways = 16;
  fit.l2.reserved = 0.02;
  fit.l2.second_oldest = 0.3;
  fit.crossing = 0.2;
  fit.tma.fresh_skew_mib = 1.5;
  const StreamFit again = fit_from_figures(fit_figures(fit), l2_bytes, sms);
  EXPECT_EQ(again.l2.ways, 16);
  EXPECT_EQ(again.l2.reserved, 0.02);
  EXPECT_EQ(again.l2.second_oldest, 0.3);
  EXPECT_EQ(again.crossing, 0.2);
  EXPECT_EQ(again.tma.fresh_skew_mib, 1.5);
  EXPECT_THROW(fit_from_figures({}, l2_bytes, sms), std::invalid_argument);
}

TEST(FitStreams, ReadingsWithoutAFabricAreRefused) {
  std::vector<StreamRow> rows = read_stream_csv(measured + "stream_counters.csv");
  for (StreamRow& row : rows) {
    row.counts[static_cast<size_t>(cupti::L2Counter::fabric_read)].reset();
  }
  EXPECT_THROW(fit_streams(rows, l2_bytes, sms, 16), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::experiments
