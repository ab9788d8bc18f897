
#include <deque>
#include <sstream>

#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {
namespace {

// What errors point to, for as long as the tests run.
std::deque<JoinedPoint> joined;

// A point measured once, of a problem under the schedule `scan`.
PointError point(double predicted, double measured, const std::string& problem = "1",
                 const std::string& scan = "linear") {
  joined.push_back({"g", {}, {}});
  joined.back().key.resize(join_column_count);
  joined.back().key[join_column("seq_q")] = problem;
  joined.back().key[join_column("scan")] = scan;
  joined.back().problem = problem_of(joined.back().key);
  return {&joined.back(), "c", predicted, measured, {1, measured, measured}};
}

// One whose DRAM reads are so many times the compulsory ones.
PointError point_over(double over_compulsory, double predicted, double measured) {
  const PointError error = point(predicted, measured);
  joined.back().over_compulsory = over_compulsory;
  return error;
}

// One with two launches between which nine tenths lie.
PointError launched(double predicted, double measured, double low, double high,
                    std::optional<double> noise = {}) {
  PointError error = point(predicted, measured);
  error.launches = {2, low, high, noise};
  return error;
}

// Two of the three points with an interval are measured inside; half widths are 10, 20 and 30 %.
TEST(ErrorSummary, SaysHowManyPointsLieInTheirIntervals) {
  const std::vector<PredictedInterval> ends{{90, 110}, {80, 120}, {70, 130}};
  std::vector<PointError> errors{point(100, 110), point(100, 125), point(100, 70), point(100, 100)};
  for (size_t i = 0; i < ends.size(); ++i) errors[i].interval = ends[i];
  const ErrorSummary s = summarise(errors).at(0);
  EXPECT_NEAR(s.covered.value(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(s.half_width.value(), 0.2, 1e-12);
  const std::string report = report_text(errors, {});
  EXPECT_NE(report.find("covered half width"), std::string::npos);
  EXPECT_NE(report.find("66.67 %    20.00 %"), std::string::npos) << report;
  EXPECT_NE(summary_table(errors).find(",all,covered,0.666"), std::string::npos);
  errors.erase(errors.begin(), errors.begin() + 3);
  EXPECT_FALSE(summarise(errors).at(0).covered.has_value());
  EXPECT_EQ(report_text(errors, {}).find("covered"), std::string::npos);
}

// Ten errors -0.01 ... -0.09, +0.5: the median of sizes is (0.05 + 0.06) / 2, nine of ten are at
// most 0.09, and the signed median lies between -0.04 and -0.05.
TEST(ErrorSummary, GivesMedianNinetyPercentWorstAndSign) {
  std::vector<PointError> errors;
  for (int i = 1; i <= 9; ++i) errors.push_back(point(100 - i, 100));
  errors.push_back(point(150, 100));
  const ErrorSummary s = summarise(errors).at(0);
  EXPECT_EQ(s.points, 10u);
  EXPECT_NEAR(s.median, 0.055, 1e-12);
  EXPECT_NEAR(s.ninety, 0.09, 1e-12);
  EXPECT_NEAR(s.worst, 0.5, 1e-12);
  EXPECT_NEAR(s.signed_median, -0.045, 1e-12);
}

TEST(ErrorSummary, NoiseIsTheMedianOfThePointsWithSeveralLaunches) {
  EXPECT_FALSE(summarise({point(104, 100)}).at(0).noise.has_value());
  const std::vector<PointError> errors{launched(104, 100, 99, 101, 0.01),
                                       launched(104, 100, 99, 101, 0.03), point(104, 100)};
  EXPECT_NEAR(summarise(errors).at(0).noise.value(), 0.02, 1e-12);
}

// The launches of the second point lie 10 % apart, so only the first counts as steady.
TEST(ErrorSummary, NamesTheWorstOfTheSteadyPointsApart) {
  const ErrorSummary s = summarise({point(110, 100), launched(150, 100, 95, 105)}).at(0);
  EXPECT_NEAR(s.worst, 0.5, 1e-12);
  EXPECT_NEAR(s.worst_steady, 0.1, 1e-12);
}

TEST(ErrorSummary, APointWithoutARelativeErrorIsCountedButInNoFigure) {
  const auto mixed = summarise({point(5, 0), point(110, 100)}).at(0);
  EXPECT_EQ(mixed.points, 2u);
  EXPECT_EQ(mixed.undefined, 1u);
  EXPECT_NEAR(mixed.worst, 0.1, 1e-12);
  EXPECT_FALSE(summarise({point(5, 0)}).at(0).has_figures());
}

TEST(ErrorSummary, APointBelongsAboveOneAndAHalfTimesCompulsoryOnly) {
  const auto hard =
      summarise({point_over(1.5, 110, 100), point_over(1.51, 120, 100), point(130, 100)},
                Regime::over_compulsory);
  ASSERT_EQ(hard.size(), 1u);
  EXPECT_EQ(hard[0].points, 1u);
  EXPECT_NEAR(hard[0].worst, 0.2, 1e-12);
}

// One problem measured at 100, 105, 200 and 400: 100 and 105 are the same within 10 %, so there are
// five pairs. Predicted 100, 100, 190, 190: 200 against 400 is predicted equal, a wrong order.
// Sizes: 200/100 is 1.9 (5 % off), 200/105 = 1.905 is 1.9, 400/100 is 1.9 (wrong), 400/105 is wrong
// too.
TEST(ScheduleChanges, CountPairsOfOneProblemThatDifferByMoreThanTenPercent) {
  const auto changes = schedule_changes({point(100, 100, "1", "a"), point(100, 105, "1", "b"),
                                         point(190, 200, "1", "c"), point(190, 400, "1", "d"),
                                         point(1, 1000, "2", "a")});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].pairs, 5u);
  EXPECT_EQ(changes[0].right_order, 4u);
  EXPECT_EQ(changes[0].right_size, 2u);
}

TEST(Report, SaysWhatAZeroMeansAndMarksWhatIsBeyondItsTolerance) {
  PointError zero = point(4096, 0);
  zero.counter = "l2_write_miss_sectors";
  PointError late = point(120, 100);
  late.counter = "time_us";
  const std::string text = report_text({late, zero}, Tolerances::parse("time_us=10%"));
  EXPECT_NE(text.find("beyond 10.00 %"), std::string::npos) << text;
  EXPECT_NE(text.find("0 measured at 1 of 1 points where up to 4096 were predicted"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
  EXPECT_TRUE(beyond({zero}, Tolerances::parse("99%")));
  EXPECT_FALSE(beyond({zero}, {}));
}

TEST(Report, TheTableOfPointsLeavesAnUndefinedErrorEmpty) {
  std::ostringstream text;
  const std::vector<PointError> errors{point(5, 0)};
  write_error_table(text, errors);
  const CsvTable table = parse_csv(text.str(), "errors");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][table.column("measured").value()], "0");
  EXPECT_EQ(table.rows[0][table.column("relative_error").value()], "");
  EXPECT_EQ(table.rows[0][table.column("noise").value()], "");
}

// Errors +10 % and -20 % of two schedules of one problem, 100 and 200 measured (x 2), 110 and 160
// predicted (x 1.45): the order is right, the size is not. The second is alone over compulsory.
TEST(Summary, HasARowForEveryStatisticWithItsSetOfPoints) {
  const PointError first = point(110, 100, "1"), second = point(160, 200, "1", "sawtooth");
  joined.back().over_compulsory = 2.0;
  const CsvTable table = parse_csv(summary_table({first, second}), "summary");
  const auto value = [&](const std::string& points, const std::string& statistic) {
    for (const CsvRow& row : table.rows) {
      if (row[table.column("points").value()] == points &&
          row[table.column("statistic").value()] == statistic) {
        return row[table.column("value").value()];
      }
    }
    return std::string("no row");
  };
  EXPECT_EQ(value("all", "count"), "2");
  EXPECT_NEAR(std::stod(value("all", "median")), 0.15, 1e-12);
  EXPECT_NEAR(std::stod(value("all", "worst")), 0.2, 1e-12);
  EXPECT_NEAR(std::stod(value("all", "signed")), -0.05, 1e-12);
  EXPECT_EQ(value("over", "count"), "1");
  EXPECT_EQ(value("all", "pairs"), "1");
  EXPECT_EQ(value("all", "order"), "1");
  EXPECT_EQ(value("all", "size"), "0");
}

}  // namespace
}  // namespace sawtooth::experiments
