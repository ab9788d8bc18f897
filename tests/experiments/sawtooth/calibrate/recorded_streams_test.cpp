// The recorded streams of an H200: what counters hold on any GPU, and how far the fitted model is
// off.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/calibrate/fit_streams.hpp"
#include "experiments/sawtooth/calibrate/least_squares.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t l2_bytes = int64_t{60} << 20;
constexpr int64_t sms = 132;
const std::string measured = SAWTOOTH_EXPERIMENTS_DIR "/data/h200/streams/";

StreamFit recorded_fit(const std::string& path) {
  const CsvTable table = read_csv(path);
  const auto value = [&](std::string_view name) {
    for (const auto& row : table.rows)
      if (row[*table.column("name")] == name) return std::stod(row[*table.column("value")]);
    throw std::out_of_range(std::string(name));
  };
  StreamFit fit = StreamFit::of(l2_bytes, sms, static_cast<int>(value("ways")));
  for (const FitNumber& number : fit_numbers()) number.in(fit) = value(number.name);
  fit.l2.far_first_waiting = fit.ld.far_first_waiting;
  fit.l2.far_first_running = fit.ld.far_first_running;
  return fit;
}

/// Names of the second passes off the edge that the model misses.
std::vector<std::string> missed_off_the_edge(const std::string& fit, const std::string& readings) {
  const StreamFit recorded = recorded_fit(measured + fit);
  const std::vector<StreamRow> rows = read_stream_csv(measured + readings);
  std::vector<std::string> missed;
  for (const StreamReading& r : stream_readings(rows)) {
    if (!r.second_pass || on_cliff(r.point, l2_bytes)) continue;
    const StreamJudgement judgement =
        judge_streams(recorded, rows, l2_bytes,
                      [&](const StreamPoint& point) { return name_of(point) == name_of(r.point); });
    if (judgement.within < judgement.points) missed.push_back(name_of(r.point));
  }
  return missed;
}

// 14 sizes of same, shift and all by loads, 7 of same and all by bulk copies; linear and reversed.
// Bulk copies' own repetitions differ by more than 0.03 in who comes first (docs/models/halves.md),
// so an error inside the range of a point's repetitions is none, as compare has it.
TEST(H200Streams, SecondPassesOffTheEdgeAreWithinToleranceButOne) {
  EXPECT_THAT(missed_off_the_edge("fit.csv", "stream_counters.csv"),
              ElementsAre("tma all linear 96 MiB"));
}

// That table has means of its repetitions only, so that there is no range to forgive.
TEST(H200Streams, SecondPassesOfTheOtherReadingsOffTheEdgeAreWithinTolerance) {
  EXPECT_THAT(missed_off_the_edge("five_pass_fit.csv", "five_pass_counters.csv"), IsEmpty());
}

// DRAM reads alone.
TEST(H200Streams, DramReadsOfOurReadingsOffTheEdgeAreWithinTolerance) {
  const StreamFit fit = recorded_fit(measured + "fit.csv");
  const auto rows = read_stream_csv(measured + "stream_counters.csv");
  const auto modelled = stream_readings(model_rows(fit, rows));
  const auto readings = stream_readings(rows);
  ASSERT_EQ(modelled.size(), readings.size());
  for (size_t i = 0; i < readings.size(); ++i) {
    if (on_cliff(readings[i].point, l2_bytes)) continue;
    EXPECT_NEAR(modelled[i].shares[0], readings[i].shares[0],
                stream_tolerances(readings[i].point, l2_bytes)[0])
        << name_of(readings[i].point);
  }
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
  EXPECT_LT(minimise(free, line, 50).sum, 1e-6);
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

TEST(FitStreams, NumbersAreWrittenByTheirNames) {
  StreamFit fit = StreamFit::of(l2_bytes, sms, 16);
  fit.l2.reserved = 0.02;
  fit.tma.fresh_skew_mib = 1.5;
  const std::vector<Figure> figures = fit_figures(fit);
  EXPECT_EQ(find_figure(figures, "ways")->value, 16);
  EXPECT_EQ(find_figure(figures, "reserved")->value, 0.02);
  EXPECT_EQ(find_figure(figures, "tma_fresh_skew")->value, 1.5);
}

TEST(FitStreams, ReadingsWithoutAFabricAreRefused) {
  std::vector<StreamRow> rows = read_stream_csv(measured + "stream_counters.csv");
  for (StreamRow& row : rows) {
    row.counts[static_cast<size_t>(cupti::L2Counter::fabric_read)].reset();
  }
  EXPECT_THROW(fit_streams(rows, l2_bytes, sms, 16), std::invalid_argument);
}

// The sizes that the model was first fitted to are multiples of 8 MiB on an H200; on an H100 they
// are not.
TEST(FittedSizes, AreEverySecondOneAndHaveSmallShiftStreamsOnEachGpu) {
  const std::string data = SAWTOOTH_EXPERIMENTS_DIR "/data/";
  const auto sizes_of = [&](const std::string& gpu) {
    return fitted_sizes_mib(read_stream_csv(data + gpu + "/streams/stream_counters.csv"));
  };
  EXPECT_THAT(sizes_of("h200"), ElementsAre(16, 28, 36, 44, 56, 80, 128));
  EXPECT_THAT(sizes_of("h100"), ElementsAre(13, 23, 30, 37, 47, 67, 107));
}

const std::string recorded = measured + "stream_counters.csv";

TEST(MeasuredH200, TheCountersAgreeWithEachOther) {
  const std::vector<StreamRow> rows = read_stream_csv(recorded);
  const std::vector<CheckLine> checks = check_streams(rows, l2_bytes);
  EXPECT_EQ(checks.size(), 6u);
  for (const CheckLine& check : checks) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

// What all SMs read lies in both halves (30 MiB at most); what each SM reads alone lies twice for
// half of its lines (40 MiB at most).
TEST(MeasuredH200, KeepsAlmostWhatTwoHalvesWithCopiesCanHold) {
  const std::vector<Figure> figures = stream_figures(read_stream_csv(recorded), l2_bytes);
  const Figure* shared = find_figure(figures, "shared_kept");
  const Figure* own = find_figure(figures, "private_kept");
  ASSERT_NE(shared, nullptr);
  ASSERT_NE(own, nullptr);
  EXPECT_GT(shared->value, 0.9 * 30);
  EXPECT_LE(shared->value, 30);
  EXPECT_GT(own->value, 0.9 * 40);
  EXPECT_LE(own->value, 40);
}

TEST(MeasuredH200, WhatIsWrittenIsReadBack) {
  const std::vector<StreamRow> rows = read_stream_csv(recorded);
  const std::string path = ::testing::TempDir() + "streams.csv";
  std::ofstream(path) << stream_csv(rows);
  const std::vector<StreamRow> again = read_stream_csv(path);
  ASSERT_EQ(again.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(again[i].counts, rows[i].counts);
    EXPECT_EQ(again[i].dram_read_by_pass, rows[i].dram_read_by_pass);
    EXPECT_EQ(again[i].range, rows[i].range);
  }
}

TEST(StreamTable, AnUnknownKindIsRefusedWithFileAndLine) {
  const std::string path = ::testing::TempDir() + "wrong.csv";
  std::ofstream(path) << "set,mode,kind,flush,n_mib,pattern,map,range,expected\n"
                         "full,user_split,lds,both,8,linear,same,p1,262144\n";
  EXPECT_THAT(test::message_of<UsageError>([&] { read_stream_csv(path); }),
              testing::HasSubstr("wrong.csv:2: kind: 'lds'"));
}

}  // namespace
}  // namespace sawtooth::experiments
