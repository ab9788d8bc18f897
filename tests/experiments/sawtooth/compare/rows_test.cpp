// Which rows belong together: of predictions and measurements, and of kept and new predictions.
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::experiments {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A row of few words, so that many agree, and with holes.
CsvRow random_row(std::mt19937_64& random, const char* third_source) {
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return std::string(*(words.begin() + random() % words.size()));
  };
  CsvRow row(result_columns.size());
  row[result_column("source")] = one_of({"measured", "measured", third_source, "published"});
  row[result_column("gpu")] = one_of({"h200", "h200", "gb10", ""});
  row[result_column("kernel")] = one_of({"mma-64x64", "mma-128x64", "hopper", "unknown", ""});
  row[result_column("system")] = one_of({"", "", "cudnn", "flash"});
  row[result_column("seq_q")] = one_of({"1", "2", ""});
  row[result_column("launch")] = one_of({"static", "grid", ""});
  row[result_column("scan")] = one_of({"linear", "sawtooth", ""});
  row[result_column("tile_q")] = one_of({"64", ""});
  row[result_column("state")] = one_of({"cold", "warm", "cold", "cold", ""});
  return row;
}

std::string family_of(const CsvRow& row) {
  const std::string& kernel = row[result_column("kernel")];
  return kernel == "unknown" ? "" : kernel.substr(0, kernel.find('-'));
}

// Rows of different points, whose duration is their number.
CsvTable random_table(std::mt19937_64& random, const std::string& path) {
  std::string text = result_header();
  std::set<CsvRow> seen;
  for (size_t rows = random() % 40; rows > 0; --rows) {
    const char* const of_table = path == "m" ? "published" : "predicted";
    CsvRow row = random_row(random, of_table);
    if (seen.empty()) row[result_column("source")] = of_table;  // two measured tables are refused
    CsvRow point = row;
    point[result_column("kernel")] = family_of(row);
    if (!seen.insert(point).second) continue;
    row[result_column("time_us")] = std::to_string(seen.size());
    text += csv_line(row);
  }
  return parse_csv(text, path);
}

// What compare.hpp says of two rows, cell by cell.
bool agree(const CsvRow& p, const CsvRow& m) {
  const size_t system = result_column("system"), launch = result_column("launch");
  if (p[result_column("gpu")].empty()) return false;
  const bool outside =
      m[result_column("source")] == "measured" && !m[system].empty() && m[launch].empty();
  const bool p_outside =
      p[result_column("source")] == "measured" && !p[system].empty() && p[launch].empty();
  for (const std::string_view name : join_columns()) {
    const size_t column = static_cast<size_t>(
        std::ranges::find(result_columns, name, &ResultColumn::name) - result_columns.begin());
    const auto cell = [&](const CsvRow& row) {
      return name == "kernel" ? family_of(row) : row[column];
    };
    const auto is_open = [&](const CsvRow& row, bool from_outside) {
      const bool of_schedule = name == "launch" || name == "scan" || name == "tile_q";
      const bool published = row[result_column("source")] == "published" && name != "gpu";
      return cell(row).empty() && (published || name == "kernel" || (from_outside && of_schedule));
    };
    if (cell(p) != cell(m) && !is_open(p, p_outside) && !is_open(m, outside)) return false;
  }
  if (p[system] == m[system]) return true;
  if (!p[system].empty() && !m[system].empty()) return false;
  // An unknown order is that of its own system.
  const bool unknown = m[launch].empty() && m[result_column("source")] != "published";
  return !unknown || p[launch].empty();
}

RC_GTEST_PROP(Join, FindsThePairsThatARowByRowComparisonFinds, (uint64_t seed)) {
  std::mt19937_64 random(seed);
  const CsvTable predicted = random_table(random, "p"), measured = random_table(random, "m");
  std::vector<std::pair<double, double>> expected, found;
  for (size_t p = 0; p < predicted.rows.size(); ++p)
    for (size_t m = 0; m < measured.rows.size(); ++m)
      if (agree(predicted.rows[p], measured.rows[m])) expected.emplace_back(p + 1, m + 1);
  for (const PointError& error : compare_tables(predicted, measured, {"time_us"}).errors)
    found.emplace_back(error.predicted, error.measured);
  RC_ASSERT(found == expected);
}

// Two of the three predicted points differ from the only measured one in scan, one in scan and seq.
TEST(Join, CountsTheColumnsThatKeepPointsFromTheNearestOne) {
  const auto row = [](const std::string& seq, const std::string& scan) {
    CsvRow cells(result_columns.size());
    cells[result_column("gpu")] = "h200";
    cells[result_column("seq_q")] = seq;
    cells[result_column("scan")] = scan;
    return csv_line(cells);
  };
  const Comparison found =
      compare_tables(parse_csv(result_header() + row("1", "a") + row("1", "b") + row("2", "a") +
                                   row("1", "linear"),
                               "p"),
                     parse_csv(result_header() + row("1", "linear"), "m"), {});
  EXPECT_EQ(found.looked_at, 3u);
  ASSERT_EQ(found.apart.size(), 2u);
  EXPECT_EQ(found.apart.at("scan").points, 3u);
  EXPECT_EQ(found.apart.at("seq_q").points, 1u);
}

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
