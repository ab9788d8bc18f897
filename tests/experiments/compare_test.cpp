#include "experiments/compare.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "experiments/result_row.hpp"
#include "experiments/tolerances.hpp"
#include "experiments/usage_error.hpp"
#include "temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using Cells = std::map<std::string, std::string>;

CsvTable table(const std::string& path, const std::vector<Cells>& rows) {
  std::string text = result_header();
  for (const Cells& cells : rows) {
    CsvRow row(result_columns.size());
    for (size_t i = 0; i < row.size(); ++i) {
      const auto found = cells.find(std::string(result_columns[i]));
      if (found != cells.end()) row[i] = found->second;
    }
    text += csv_line(row);
  }
  return parse_csv(text, path);
}

Cells predicted(const std::string& seq, const std::string& misses, const std::string& l2 = "lru") {
  return {{"source", "predicted"}, {"gpu", "h200"},   {"seq_q", seq},
          {"timing", "lockstep"},  {"l2", l2},        {"l2_read_miss_sectors", misses},
          {"state", "cold"},       {"scan", "linear"}};
}
Cells measured(const std::string& seq, const std::string& misses,
               const std::string& kernel = "mma-64x64") {
  return {{"source", "measured"},
          {"gpu", "h200"},
          {"seq_q", seq},
          {"kernel", kernel},
          {"state", "cold"},
          {"scan", "linear"},
          {"l2_read_miss_sectors", misses}};
}

const std::vector<std::string> misses{"l2_read_miss_sectors"};

TEST(Compare, RepetitionsAreComparedByTheirMedian) {
  const Comparison c = compare_tables(
      table("p", {predicted("1", "110")}),
      table("m", {measured("1", "90"), measured("1", "100"), measured("1", "1000")}), misses);
  ASSERT_EQ(c.errors.size(), 1u);
  EXPECT_DOUBLE_EQ(c.errors[0].measured, 100);
  EXPECT_DOUBLE_EQ(c.errors[0].relative, 0.1);
  EXPECT_EQ(c.measured_points, 1u);
}

TEST(Compare, KernelsJoinByFamilyAndStayApartOtherwise) {
  Cells mma = predicted("1", "100");
  mma["kernel"] = "mma";
  const Comparison c = compare_tables(
      table("p", {mma}),
      table("m", {measured("1", "100", "mma-128x64"), measured("1", "50", "hopper-192x128")}),
      misses);
  EXPECT_EQ(c.errors.size(), 1u);
  EXPECT_EQ(c.measured_alone, 1u);
  EXPECT_EQ(c.predicted_alone, 0u);
}

TEST(Compare, EveryModelIsAGroupOfItsOwn) {
  const Comparison c =
      compare_tables(table("p", {predicted("1", "100"), predicted("1", "150", "halves")}),
                     table("m", {measured("1", "100")}), misses);
  const auto summaries = summarise(c.errors);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].group, "lockstep, halves");
  EXPECT_DOUBLE_EQ(summaries[0].worst, 0.5);
  EXPECT_DOUBLE_EQ(summaries[1].worst, 0.0);
}

TEST(Compare, RowsThatDifferInTheirScheduleDoNotJoin) {
  Cells other = measured("1", "100");
  other["scan"] = "sawtooth";
  const Comparison c =
      compare_tables(table("p", {predicted("1", "100")}), table("m", {other}), misses);
  EXPECT_TRUE(c.errors.empty());
  EXPECT_EQ(c.predicted_alone, 1u);
  EXPECT_EQ(c.measured_alone, 1u);
}

TEST(Compare, EmptyCellsOfPublishedRowsAgreeWithEverythingOnEitherSide) {
  const Cells published{
      {"source", "published"}, {"gpu", "h200"}, {"seq_q", "1"}, {"l2_read_miss_sectors", "200"}};
  const auto ours = table("p", {predicted("1", "100")});
  const auto theirs = table("m", {published});
  EXPECT_DOUBLE_EQ(compare_tables(ours, theirs, misses).errors.at(0).relative, -0.5);
  EXPECT_DOUBLE_EQ(compare_tables(theirs, ours, misses).errors.at(0).relative, 1.0);
}

TEST(Compare, CountersThatOneSideLacksAreLeftOut) {
  const Comparison c =
      compare_tables(table("p", {predicted("1", "")}), table("m", {measured("1", "100")}), misses);
  EXPECT_TRUE(c.errors.empty());
  EXPECT_EQ(c.predicted_alone, 0u);
}

TEST(Compare, AZeroThatWasMeasuredIsMatchedByZeroAlone) {
  const auto zero = table("m", {measured("1", "0")});
  EXPECT_EQ(compare_tables(table("p", {predicted("1", "0")}), zero, misses).errors[0].relative, 0);
  EXPECT_TRUE(std::isinf(
      compare_tables(table("p", {predicted("1", "1")}), zero, misses).errors[0].relative));
}

// Ten errors -0.01 ... -0.09, +0.5: the median of sizes is (0.05 + 0.06) / 2, nine of ten are at
// most 0.09, and the signed median lies between -0.04 and -0.05.
TEST(Compare, SummariesGiveMedianNinetyPercentWorstAndSign) {
  std::vector<PointError> errors;
  for (int i = 1; i <= 9; ++i) errors.push_back({"g", "c", {}, 0, 0, -0.01 * i});
  errors.push_back({"g", "c", {}, 0, 0, 0.5});
  const ErrorSummary s = summarise(errors).at(0);
  EXPECT_EQ(s.points, 10u);
  EXPECT_NEAR(s.median, 0.055, 1e-12);
  EXPECT_NEAR(s.ninety, 0.09, 1e-12);
  EXPECT_NEAR(s.worst, 0.5, 1e-12);
  EXPECT_NEAR(s.signed_median, -0.045, 1e-12);
}

TEST(Compare, MissingColumnsAndWordsForNumbersAreNamed) {
  EXPECT_EQ(message_of<UsageError>(
                [] { compare_tables(parse_csv("a\n1\n", "p.csv"), table("m", {}), misses); }),
            "p.csv: has no column 'gpu'; both tables need the columns of results.csv");
  EXPECT_EQ(message_of<UsageError>([] {
              compare_tables(table("p.csv", {predicted("1", "many")}), table("m", {}), misses);
            }),
            "p.csv:2: l2_read_miss_sectors: 'many' is not a number");
}

TEST(Tolerances, AreOneForAllOrOneACounter) {
  EXPECT_EQ(Tolerances::parse("5%").of("time_us"), 0.05);
  EXPECT_EQ(Tolerances::parse("0.05").of("time_us"), 0.05);
  const Tolerances own = Tolerances::parse("10%, dram_read_sectors=3%");
  EXPECT_EQ(own.of("dram_read_sectors"), 0.03);
  EXPECT_EQ(own.of("time_us"), 0.1);
  EXPECT_EQ(Tolerances::parse("time_us=1%").of("dram_read_sectors"), std::nullopt);
  for (const char* text : {"", "x", "-1%", "colour=3%", "5%,6%", "5%%"}) {
    EXPECT_THROW(Tolerances::parse(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
