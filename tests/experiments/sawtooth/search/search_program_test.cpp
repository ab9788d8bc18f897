// sawtooth search from end to end.
#include <gtest/gtest.h>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

// Large enough to be screened, by a problem of half its length.
const std::string problem =
    "search --gpu gb10 --seq 48K --mask causal --launch static,dynamic --scan "
    "linear,sawtooth,attach "
    "--q-order ascending,descending,fold --quiet ";

double number(const experiments::CsvTable& table, size_t row, const char* column) {
  return std::stod(table.rows[row][*table.column(column)]);
}

TEST(SearchProgram, GivesTheSameBytesOnAnyNumberOfThreadsAndResumed) {
  const TemporaryFolder folder;
  const std::string options = problem + "--budget 6 --csv " + folder.path("r.csv");
  ASSERT_EQ(run_program(options + " --threads 1").exit_code, 0);
  const std::string table = folder.read("r.csv"), points = folder.read("r.points.csv");
  ASSERT_EQ(run_program(options + " --threads 3").exit_code, 0);
  EXPECT_EQ(folder.read("r.csv"), table);
  EXPECT_EQ(folder.read("r.points.csv"), points);
  // Interrupted in the middle of a row.
  std::filesystem::remove(folder.path("r.points.csv"));
  folder.write("r.points.csv.partial", points.substr(0, points.size() / 2));
  ASSERT_EQ(run_program(options + " --resume").exit_code, 0);
  EXPECT_EQ(folder.read("r.csv"), table);
}

TEST(SearchProgram, RanksByTheDecidingModelAboveItsBounds) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(problem + "--budget 4 --csv " + folder.path("r.csv")).exit_code, 0);
  const auto table = experiments::read_csv(folder.path("r.csv"));
  double last = 0;
  int ranks = 0;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& why = table.rows[row][*table.column("why")];
    if (why == "the usual schedule, outside of the space") continue;
    if (table.rows[row][*table.column("rank")].empty()) {
      EXPECT_EQ(table.rows[row][*table.column("time_us")], "");
      EXPECT_NE(why, "");
      continue;
    }
    EXPECT_EQ(number(table, row, "rank"), ++ranks);
    EXPECT_EQ(table.rows[row][*table.column("evaluated_by")], "timed, halves");
    EXPECT_GE(number(table, row, "time_gap"), 0);
    EXPECT_GE(number(table, row, "dram_gap"), 0);
    if (ranks == 1) continue;  // the first one is chosen, the others go by time
    EXPECT_GE(number(table, row, "time_us"), last);
    last = number(table, row, "time_us");
  }
  EXPECT_GE(ranks, 4);
  EXPECT_LT(size_t(ranks), table.rows.size());
}

TEST(SearchProgram, FindsTheBestOfAllWhereTheBudgetPaysForAll) {
  const TemporaryFolder folder;
  folder.write("own.ini",
               experiments::read_text_file(experiments::resource_file("profiles/gpus/gb10.ini")));
  const std::string space = "--gpu " + folder.path("own.ini") +
                            " --seq 4K --mask causal --launch static,dynamic "
                            "--q-order ascending,descending --scan linear,sawtooth ";
  ASSERT_EQ(run_program("search " + space + "--quiet --minimise dram_read_sectors --csv " +
                        folder.path("found.csv") + " --best " + folder.path("best.ini"))
                .exit_code,
            0);
  ASSERT_EQ(
      run_program("simulate " + space + "--timing timed --quiet --csv " + folder.path("all.csv"))
          .exit_code,
      0);
  const auto all = experiments::read_csv(folder.path("all.csv"));
  double least = 1e300;
  for (size_t row = 0; row < all.rows.size(); ++row)
    least = std::min(least, number(all, row, "dram_read_sectors"));
  EXPECT_EQ(number(experiments::read_csv(folder.path("found.csv")), 0, "dram_read_sectors"), least);
  // simulate takes best.ini as it is.
  ASSERT_EQ(run_program("simulate " + folder.path("best.ini") + " --timing timed --quiet --csv " +
                        folder.path("again.csv"))
                .exit_code,
            0);
  EXPECT_EQ(number(experiments::read_csv(folder.path("again.csv")), 0, "dram_read_sectors"), least);
}

TEST(SearchProgram, KeepsConstraints) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(problem +
                        "--budget 500 --minimise dram_read_sectors --subject-to "
                        "'time<=1.01*best' --csv " +
                        folder.path("r.csv"))
                .exit_code,
            0);
  const auto table = experiments::read_csv(folder.path("r.csv"));
  double fastest = 1e300;
  for (size_t row = 0; row < table.rows.size(); ++row)
    if (!table.rows[row][*table.column("time_us")].empty())
      fastest = std::min(fastest, number(table, row, "time_us"));
  EXPECT_LE(number(table, 0, "time_us"), 1.01 * fastest);
}

}  // namespace
}  // namespace sawtooth::test
