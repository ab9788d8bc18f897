#include "experiments/sawtooth/results/result_log.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;

CsvRow keys(const std::string& seq) {
  CsvRow cells(key_column_count);
  cells[result_column("seq_q")] = seq;
  return cells;
}
CsvRow row(const std::string& seq) {
  sim::Counters counters;
  counters.l2_read_sectors = 7;
  return predicted_row(keys(seq), counters);
}

TEST(ResultLog, TheFileAppearsWhenItIsFinished) {
  const TemporaryFolder folder;
  ResultLog log(folder.path("r.csv"), false);
  log.start();
  log.append(row("1"));
  EXPECT_EQ(folder.read("r.csv"), "");
  EXPECT_EQ(folder.read("r.csv.partial"), result_header() + csv_line(row("1")));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("1")));
  EXPECT_EQ(folder.files(), 1u);
}

TEST(ResultLog, ResumeTakesCompleteRowsOverAndDropsABrokenLastLine) {
  const TemporaryFolder folder;
  folder.write("r.csv.partial", result_header() + csv_line(row("1")) + "x,predicted,gb1");
  ResultLog log(folder.path("r.csv"), true);
  EXPECT_TRUE(log.has(keys("1")));
  EXPECT_FALSE(log.has(keys("2")));
  log.start();
  log.keep(keys("1"));
  log.append(row("2"));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("1")) + csv_line(row("2")));
}

TEST(ResultLog, ResumeKeepsTheRowsOfOtherSweeps) {
  const TemporaryFolder folder;
  folder.write("r.csv", result_header() + csv_line(row("9")) + csv_line(row("1")));
  ResultLog log(folder.path("r.csv"), true);
  log.start();
  log.append(row("0"));
  log.keep(keys("1"));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"),
            result_header() + csv_line(row("9")) + csv_line(row("0")) + csv_line(row("1")));
}

TEST(ResultLog, ATableOfAnotherShapeIsRefusedAndStays) {
  const TemporaryFolder folder;
  const std::string path = folder.write("r.csv", "a,b\n1,2\n");
  EXPECT_NE(message_of<UsageError>([&] {
              ResultLog(path, true);
            }).find("its columns are not those of results.csv"),
            std::string::npos);
  EXPECT_EQ(folder.read("r.csv"), "a,b\n1,2\n");
}

TEST(ResultLog, DevicesAndFoldersAreRefused) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of<UsageError>([] { ResultLog("/dev/zero", false); }).find("no ordinary file"),
            std::string::npos);
  EXPECT_NE(
      message_of<UsageError>([&] { ResultLog(folder.path(""), false); }).find("no ordinary file"),
      std::string::npos);
}

// The hash must tell points apart and must not depend on who reports them.
TEST(ResultRow, RunIdsFollowThePointAlone) {
  CsvRow renamed = keys("1");
  renamed[result_column("experiment")] = "other";
  renamed[result_column("source")] = "measured";
  EXPECT_EQ(run_id(keys("1")), run_id(renamed));
  EXPECT_NE(run_id(keys("1")), run_id(keys("2")));
  EXPECT_EQ(run_id(keys("1")).size(), 12u);
}

TEST(ResultRow, UnmodelledCountersAreEmptyAndNotZero) {
  const CsvRow cells = row("1");
  ASSERT_EQ(cells.size(), result_columns.size());
  EXPECT_EQ(cells[result_column("l2_read_sectors")], "7");
  EXPECT_EQ(cells[result_column("dram_write_sectors")], "");
  EXPECT_EQ(cells[result_column("status")], "ok");
}

}  // namespace
}  // namespace sawtooth::experiments
