// Predictions that were kept against new ones.
#include "experiments/sawtooth/compare/no_worse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Row {
  const char* seq;
  const char* scan;
  int misses;
  const char* timing = "lockstep";
};

CsvTable table_of(const std::string& path, const std::vector<Row>& rows) {
  std::string text = result_header();
  for (const Row& given : rows) {
    CsvRow row(result_columns.size());
    row[result_column("gpu")] = "gb10";
    row[result_column("seq_q")] = row[result_column("seq_kv")] = given.seq;
    row[result_column("scan")] = given.scan;
    row[result_column("timing")] = given.timing;
    row[result_column("status")] = "ok";
    row[result_column("l2_read_miss_sectors")] = std::to_string(given.misses);
    text += csv_line(row);
  }
  return parse_csv(text, path);
}

NoWorse compared(const std::vector<Row>& now, const std::vector<Row>& then,
                 const char* tolerance = nullptr) {
  return compare_with_kept(table_of("now.csv", now), table_of("kept.csv", then),
                           {"l2_read_miss_sectors", "dram_read_sectors"},
                           tolerance == nullptr ? Tolerances() : Tolerances::parse(tolerance));
}

TEST(NoWorse, PassesWhereMissesStayOrFall) {
  const NoWorse found = compared({{"1024", "linear", 100}, {"2048", "linear", 150}},
                                 {{"1024", "linear", 100}, {"2048", "linear", 200}});
  EXPECT_EQ(found.compared, 2u);
  EXPECT_THAT(found.worse, IsEmpty());
  EXPECT_THAT(found.missing, IsEmpty());
}

TEST(NoWorse, NamesThePointWhoseMissesRise) {
  const NoWorse found = compared({{"1024", "linear", 150}}, {{"1024", "linear", 100}});
  EXPECT_THAT(found.worse,
              ElementsAre(HasSubstr("l2_read_miss_sectors rose from 100 to 150 (x 1.50)")));
}

TEST(NoWorse, AllowsWhatTheToleranceAllows) {
  EXPECT_THAT(compared({{"1024", "linear", 105}}, {{"1024", "linear", 100}}, "5%").worse,
              IsEmpty());
  EXPECT_EQ(compared({{"1024", "linear", 106}}, {{"1024", "linear", 100}}, "5%").worse.size(), 1u);
}

TEST(NoWorse, HoldsAChangedScheduleAgainstTheOneOfItsProblem) {
  EXPECT_EQ(compared({{"1024", "linear", 101}}, {{"1024", "sawtooth", 100}}).worse.size(), 1u);
  // Where several were kept the same one counts.
  EXPECT_THAT(
      compared({{"1024", "linear", 101}, {"1024", "reverse", 101}},
               {{"1024", "sawtooth", 100}, {"1024", "linear", 101}, {"1024", "reverse", 102}})
          .missing.size(),
      1u);
  EXPECT_THAT(
      test::message_of<UsageError>([] {
        compared({{"1024", "attach", 1}}, {{"1024", "sawtooth", 100}, {"1024", "linear", 101}});
      }),
      HasSubstr("kept.csv: has 2 schedules of the problem of now.csv:2"));
}

TEST(NoWorse, NamesWhatIsNotPredictedAnyMore) {
  const NoWorse found =
      compared({{"1024", "linear", 100}}, {{"1024", "linear", 100}, {"2048", "linear", 200}});
  EXPECT_THAT(found.missing, ElementsAre(HasSubstr("kept.csv:3 has no new prediction")));
}

TEST(NoWorse, RefusesAnotherModel) {
  EXPECT_THAT(test::message_of<UsageError>([] {
                compared({{"1024", "linear", 1, "timed"}}, {{"1024", "linear", 1}});
              }),
              HasSubstr("now.csv:2: the model (timing, l2, l2_bytes) is not that of kept.csv:2"));
}

}  // namespace
}  // namespace sawtooth::experiments
