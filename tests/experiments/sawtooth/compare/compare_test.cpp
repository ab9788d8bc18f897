#include "experiments/sawtooth/compare/compare.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using Cells = std::map<std::string, std::string>;

CsvTable table(const std::string& path, const std::vector<Cells>& rows) {
  std::string text = result_header();
  for (const Cells& cells : rows) {
    CsvRow row(result_columns.size());
    for (size_t i = 0; i < row.size(); ++i) {
      const auto found = cells.find(std::string(result_columns[i].name));
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

const std::vector<std::string_view> misses{"l2_read_miss_sectors"};

Comparison compared(const std::vector<Cells>& of_models, const std::vector<Cells>& of_launches) {
  return compare_tables(table("p", of_models), table("m", of_launches), misses);
}

TEST(Compare, RepetitionsAreComparedByTheirMedian) {
  const Comparison c = compared({predicted("1", "110")},
                                {measured("1", "90"), measured("1", "100"), measured("1", "1000")});
  ASSERT_EQ(c.errors.size(), 1u);
  EXPECT_DOUBLE_EQ(c.errors[0].measured, 100);
  EXPECT_DOUBLE_EQ(c.errors[0].relative().value(), 0.1);
  EXPECT_EQ(c.measured_points, 1u);
}

TEST(Compare, AnIntervalIsOfThePredictionThatHasBothEnds) {
  Cells with = predicted("1", "100"), half = predicted("2", "100");
  with["l2_read_miss_sectors_low"] = half["l2_read_miss_sectors_low"] = "80";
  with["l2_read_miss_sectors_high"] = "130";
  const Comparison c = compared({with, half}, {measured("1", "90"), measured("2", "90")});
  ASSERT_EQ(c.errors.size(), 2u);
  ASSERT_TRUE(c.errors[0].interval.has_value());
  EXPECT_EQ(c.errors[0].interval->low, 80);
  EXPECT_EQ(c.errors[0].interval->high, 130);
  EXPECT_FALSE(c.errors[1].interval.has_value());
}

TEST(Compare, EveryModelIsAGroupOfItsOwn) {
  const Comparison c =
      compared({predicted("1", "100"), predicted("1", "150", "halves")}, {measured("1", "100")});
  ASSERT_EQ(c.errors.size(), 2u);
  EXPECT_EQ(c.errors[0].point->group, "lockstep, lru");
  EXPECT_EQ(c.errors[0].relative(), 0.0);
  EXPECT_EQ(c.errors[1].point->group, "lockstep, halves");
  EXPECT_EQ(c.errors[1].relative(), 0.5);
}

TEST(Compare, APredictionMadeInAnotherWayIsAGroupOfItsOwn) {
  Cells usual = predicted("1", "100");
  usual["version"] = "0.1.0";
  Cells without = usual;
  without["without"] = "merging";
  without["launches"] = "3";
  Cells ways = usual;
  ways["l2"] = "sets";
  ways["l2_ways"] = "8";
  const Comparison c = compared({usual, without, ways}, {measured("1", "100")});
  ASSERT_EQ(c.errors.size(), 3u);
  EXPECT_EQ(c.errors[0].point->group, "lockstep, lru, sawtooth 0.1.0");
  EXPECT_EQ(c.errors[1].point->group, "lockstep, lru, sawtooth 0.1.0 without merging launches 3");
  EXPECT_EQ(c.errors[2].point->group, "lockstep, sets l2_ways 8, sawtooth 0.1.0");
}

TEST(Compare, CountersThatOneSideLacksAreLeftOut) {
  const Comparison c = compared({predicted("1", "")}, {measured("1", "100")});
  EXPECT_TRUE(c.errors.empty());
  EXPECT_EQ(c.predicted_alone, 0u);
}

// Zero measured and zero predicted is right; zero measured and something predicted is wrong, but by
// no share of anything.
TEST(Compare, AZeroThatWasMeasuredIsMatchedByZeroAlone) {
  const auto zero = table("m", {measured("1", "0")});
  EXPECT_EQ(compare_tables(table("p", {predicted("1", "0")}), zero, misses).errors[0].relative(),
            0);
  EXPECT_EQ(compare_tables(table("p", {predicted("1", "1")}), zero, misses).errors[0].relative(),
            std::nullopt);
}

TEST(Compare, SeedsOfOnePointAreGroupsOfTheirOwn) {
  Cells first = predicted("1", "100");
  first["seed"] = "0";
  Cells second = predicted("1", "150");
  second["seed"] = "1";
  const auto both = table("m", {measured("1", "100")});
  const Comparison c = compare_tables(table("p", {first, second}), both, misses);
  ASSERT_EQ(c.errors.size(), 2u);
  EXPECT_EQ(c.errors[1].point->group, "lockstep, lru, seed 1");
  // Another point with another seed is one more point of the same model.
  Cells elsewhere = second;
  elsewhere["seq_q"] = "2";
  EXPECT_EQ(compare_tables(table("p", {first, elsewhere}), both, misses).errors.at(0).point->group,
            "lockstep, lru");
}

TEST(Compare, CapacitiesAreGroupsOfTheirOwn) {
  Cells full = predicted("1", "100");
  full["l2_bytes"] = "62914560";
  Cells odd = predicted("1", "150");
  odd["l2_bytes"] = "1000";
  const Comparison c = compared({full, odd}, {measured("1", "100")});
  ASSERT_EQ(c.errors.size(), 2u);
  EXPECT_EQ(c.errors[0].point->group, "lockstep, lru, 60 MiB");
  EXPECT_EQ(c.errors[1].point->group, "lockstep, lru, 1000 B");
}

// Launches 100, 110, 120, 130, 140: the 5 % point lies at place 0.05 x 4 = 0.2, so at 102; the 95 %
// point at place 3.8, so at 138.
TEST(Compare, AnErrorInsideTheRangeOfTheLaunchesCountsAsZero) {
  std::vector<Cells> launches;
  for (const char* value : {"100", "140", "120", "130", "110"}) {
    launches.push_back(measured("1", value));
  }
  const Comparison c = compared({predicted("1", "103")}, launches);
  const PointError& error = c.errors.at(0);
  EXPECT_DOUBLE_EQ(error.launches.low, 102);
  EXPECT_DOUBLE_EQ(error.launches.high, 138);
  EXPECT_EQ(error.launches.count, 5u);
  EXPECT_DOUBLE_EQ(error.spread(), 0.3);
  // Inside the range of the launches an error is an error.
  EXPECT_DOUBLE_EQ(error.relative().value(), -17.0 / 120);
  // From the others' medians 125, 125, 120, 115, 115: 25/100, 15/110, 0, 15/130 and 25/140.
  EXPECT_DOUBLE_EQ(error.launches.noise.value(), 15.0 / 110);
}

TEST(Compare, PointsKnowTheirMeasuredDramReadsOverTheCompulsoryOnes) {
  Cells p = predicted("1", "100");
  p["cold_read_sectors"] = "50";
  Cells m = measured("1", "100");
  m["dram_read_sectors"] = "80";
  EXPECT_EQ(compared({p}, {m}).errors[0].point->over_compulsory, 1.6);
  EXPECT_EQ(compared({predicted("1", "100")}, {m}).errors[0].point->over_compulsory, std::nullopt);
}

// A library's row has no schedule: it joins what was predicted for that library, nothing else.
TEST(Compare, ARowMeasuredFromOutsideJoinsThePredictionOfItsSystemOnly) {
  Cells library = measured("1", "100", "sdpa-flash");
  library.erase("scan");
  library["system"] = "flash-attention-2";
  Cells right = predicted("1", "150");
  right["system"] = "flash-attention-2";
  right["launch"] = "grid";
  Cells wrong = right;
  wrong["system"] = "cudnn";
  Cells nameless = right;
  nameless.erase("system");
  const auto outside = table("m", {library});
  const Comparison c = compare_tables(table("p", {right}), outside, misses);
  ASSERT_EQ(c.errors.size(), 1u);
  EXPECT_EQ(c.errors[0].relative(), 0.5);
  EXPECT_EQ(c.errors[0].point->key[join_column("launch")], "grid");
  EXPECT_TRUE(compare_tables(table("p", {wrong}), outside, misses).errors.empty());
  EXPECT_TRUE(compare_tables(table("p", {nameless}), outside, misses).errors.empty());
}

TEST(Compare, MissingColumnsAndWordsForNumbersAreNamed) {
  EXPECT_EQ(message_of<UsageError>(
                [] { compare_tables(parse_csv("a\n1\n", "p.csv"), table("m", {}), misses); }),
            "p.csv: has no column 'gpu'; both tables need the columns of results.csv");
  EXPECT_EQ(message_of<UsageError>([] {
              compare_tables(table("p.csv", {predicted("1", "many")}),
                             table("m", {measured("1", "1")}), misses);
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
