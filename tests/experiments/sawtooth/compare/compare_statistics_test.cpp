#include "experiments/sawtooth/compare/compare_statistics.hpp"

#include <cmath>
#include <deque>
#include <sstream>

#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/bootstrap.hpp"
#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/compare/compare_summary.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {
namespace {

// What errors point to, for as long as the tests run.
std::deque<JoinedPoint> joined;
std::deque<LaunchSpread> of_launches;

PointKey key(const std::string& seq, const std::string& scan) {
  static PointKeys keys;
  PointKeys::Cells cells{};
  cells[join_column("seq_q")] = keys.words().number(seq);
  cells[join_column("scan")] = keys.words().number(scan);
  return {keys, keys.number(cells)};
}

// A point measured once, of the problem `seq_q` under the schedule `scan`.
PointError point(double predicted, double measured, const std::string& seq = "1",
                 const std::string& scan = "linear") {
  joined.push_back({"g", key(seq, scan)});
  return {&joined.back(), "c", predicted, measured};
}

// One whose DRAM reads are so many times the compulsory ones.
PointError point_over(double over_compulsory, double predicted, double measured) {
  joined.push_back({"g", key("1", "linear"), over_compulsory});
  return {&joined.back(), "c", predicted, measured};
}

// One with two launches between which nine tenths lie.
PointError launched(double predicted, double measured, double low, double high,
                    std::optional<double> noise = {}) {
  of_launches.push_back({2, low, high, noise});
  PointError error = point(predicted, measured);
  error.launches = &of_launches.back();
  return error;
}

// Of the three points with an interval two are measured inside; half widths are 10, 20 and 30 %.
TEST(ErrorSummary, SaysHowManyPointsLieInTheirIntervals) {
  const std::deque<PredictedInterval> ends{{90, 110}, {80, 120}, {70, 130}};
  std::vector<PointError> errors{point(100, 110), point(100, 125), point(100, 70), point(100, 100)};
  for (size_t i = 0; i < ends.size(); ++i) errors[i].interval = &ends[i];
  const ErrorSummary s = summarise(errors).at(0);
  EXPECT_NEAR(s.covered.value(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(s.half_width.value(), 0.2, 1e-12);
  const std::string report = report_text(errors, {}, {});
  EXPECT_NE(report.find("covered half width"), std::string::npos);
  EXPECT_NE(report.find("66.67 %    20.00 %"), std::string::npos) << report;
  EXPECT_NE(summary_table(errors, {}).find(",all,covered,,0.666"), std::string::npos);
  errors.erase(errors.begin(), errors.begin() + 3);
  EXPECT_FALSE(summarise(errors).at(0).covered.has_value());
  EXPECT_EQ(report_text(errors, {}, {}).find("covered"), std::string::npos);
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

TEST(ErrorSummary, AnErrorInsideTheLaunchesRangeIsNotForgiven) {
  EXPECT_NEAR(summarise({launched(104, 100, 95, 105)}).at(0).worst, 0.04, 1e-12);
}

TEST(ErrorSummary, NoiseIsTheMedianOfThePointsWithSeveralLaunches) {
  EXPECT_FALSE(summarise({point(104, 100)}).at(0).noise.has_value());
  const std::vector<PointError> errors{launched(104, 100, 99, 101, 0.01),
                                       launched(104, 100, 99, 101, 0.03), point(104, 100)};
  EXPECT_NEAR(summarise(errors).at(0).noise.value(), 0.02, 1e-12);
}

// Of two problems a quarter of the resamples has the first twice, a quarter the second twice: the
// medians are 0.1, 0.2 and 0.3 with shares 1/4, 1/2 and 1/4, the 90 % marks 0.1 and 0.3.
TEST(Bootstrap, IntervalsAreThoseOfResampledProblems) {
  const std::vector<PointError> errors{point(110, 100, "1"), point(130, 100, "2")};
  const ErrorSets sets = sets_of(errors, Regime::all);
  const auto intervals = bootstrap(sets.points.at({"g", "c"}));
  ASSERT_TRUE(intervals.has_value());
  EXPECT_NEAR(intervals->median.low, 0.1, 1e-12);
  EXPECT_NEAR(intervals->median.high, 0.3, 1e-12);
  EXPECT_NEAR(intervals->ninety.low, 0.1, 1e-12);
  EXPECT_NEAR(intervals->ninety.high, 0.3, 1e-12);
}

TEST(Bootstrap, SchedulesOfOneProblemAreOneDraw) {
  const std::vector<PointError> errors{point(110, 100, "1", "linear"),
                                       point(130, 100, "1", "sawtooth"), point(130, 0, "2")};
  const ErrorSets sets = sets_of(errors, Regime::all);
  EXPECT_FALSE(bootstrap(sets.points.at({"g", "c"})).has_value());
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

// Ranks of 10, 20, 20, 40 are 0, 1.5, 1.5, 3; of 1, 2, 3, 4 they are 0, 1, 2, 3. Around their mean
// 1.5: the products are 2.25 + 0 + 0 + 2.25 = 4.5, the squares 4.5 and 5: rho = 4.5 / sqrt(22.5).
TEST(RankCorrelation, IsSpearmansWithMeanRanksForEqualValues) {
  EXPECT_NEAR(rank_correlation({10, 20, 20, 40}, {1, 2, 3, 4}).value(), 4.5 / std::sqrt(22.5),
              1e-12);
  EXPECT_NEAR(rank_correlation({1, 2, 3}, {9, 100, 1000}).value(), 1, 1e-12);
  EXPECT_NEAR(rank_correlation({1, 2, 3}, {3, 2, 1}).value(), -1, 1e-12);
  EXPECT_FALSE(rank_correlation({1, 1}, {1, 2}).has_value());
  EXPECT_FALSE(rank_correlation({1}, {1}).has_value());
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
  EXPECT_EQ(changes[0].counts.pairs, 5u);
  EXPECT_EQ(changes[0].counts.right_order, 4u);
  EXPECT_EQ(changes[0].counts.right_size, 2u);
}

TEST(ScheduleChanges, AWrongDirectionIsWrong) {
  const auto changes = schedule_changes({point(2, 100, "1", "a"), point(1, 200, "1", "b")});
  EXPECT_EQ(changes.at(0).counts.right_order, 0u);
  EXPECT_EQ(changes.at(0).counts.right_size, 0u);
}

PointError baseline(std::string_view name, double predicted, double measured,
                    const std::string& seq) {
  joined.push_back({name, key(seq, "linear")});
  return {&joined.back(), "c", predicted, measured};
}

// ln errors: the model ln 2 and 0, mean ln(2)/2; baseline `far` ln 4 and ln 4, baseline `near` ln 2
// and ln 2: skills 1 - 1/2 over the nearer one, which comes first, and 1 - 1/4. The third point has
// no baseline.
TEST(Skill, IsOneMinusTheErrorOverThatOfEachBaselineTheBestOneFirst) {
  const auto found = skills({point(200, 100, "1"), point(100, 100, "2"), point(900, 100, "3")},
                            {baseline("far", 400, 100, "1"), baseline("far", 25, 100, "2"),
                             baseline("near", 50, 100, "1"), baseline("near", 200, 100, "2")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].baseline, "near");
  EXPECT_EQ(found[0].points, 2u);
  EXPECT_NEAR(found[0].value(), 0.5, 1e-12);
  EXPECT_EQ(found[1].baseline, "far");
  EXPECT_NEAR(found[1].value(), 0.75, 1e-12);
}

TEST(Skill, IsNegativeForAModelThatIsWorseThanTheBaseline) {
  EXPECT_NEAR(skills({point(400, 100)}, {baseline("b", 200, 100, "1")}).at(0).value(), -1, 1e-12);
}

TEST(Skill, IsNotDefinedOverABaselineWithoutError) {
  EXPECT_TRUE(skills({point(400, 100)}, {baseline("b", 100, 100, "1")}).empty());
}

TEST(Report, SaysWhatAZeroMeansAndMarksWhatIsBeyondItsTolerance) {
  PointError zero = point(4096, 0);
  zero.counter = "l2_write_miss_sectors";
  PointError late = point(120, 100);
  late.counter = "time_us";
  const std::string text = report_text({late, zero}, {}, Tolerances::parse("time_us=10%"));
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
  write_error_table(text, {&errors});
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
  const CsvTable table =
      parse_csv(summary_table({first, second}, {baseline("b", 50, 100, "1")}), "summary");
  const auto value = [&](const std::string& points, const std::string& statistic,
                         const std::string& against = "") {
    for (const CsvRow& row : table.rows) {
      if (row[table.column("points").value()] == points &&
          row[table.column("statistic").value()] == statistic &&
          row[table.column("against").value()] == against) {
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
  EXPECT_NEAR(std::stod(value("all", "skill", "b")), 1 - std::log(1.1) / std::log(2), 1e-12);
}

}  // namespace
}  // namespace sawtooth::experiments
