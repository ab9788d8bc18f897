#include "experiments/sawtooth/results/result_log.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
  EXPECT_FALSE(std::filesystem::exists(log.partial_path()));
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

TEST(ResultLog, ALinkToTheTableStaysALink) {
  const TemporaryFolder folder;
  folder.write("r.csv", "old");
  std::filesystem::create_symlink("r.csv", folder.path("link"));
  ResultLog log(folder.path("link"), false);
  log.start();
  log.append(row("1"));
  log.finish();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("1")));
}

TEST(ResultLog, AnOpenFileBehindALinkOfProcGetsTheRowsAsTheyCome) {
  const TemporaryFolder folder;
  const int open_file = open(folder.write("a", "").c_str(), O_WRONLY);
  ASSERT_GE(open_file, 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(open_file),
                                  folder.path("link"));
  ResultLog log(folder.path("link"), false);
  log.start();
  log.append(row("1"));
  EXPECT_EQ(folder.read("a"), result_header() + csv_line(row("1")));
  log.finish();
  close(open_file);
  EXPECT_EQ(folder.read("a"), result_header() + csv_line(row("1")));
  EXPECT_EQ(folder.files(), 2u);
}

TEST(ResultLog, AFolderIsRefusedAndSoIsADeviceToGoOnWith) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of<UsageError>([&] { ResultLog(folder.path(""), false); }).find("is a folder"),
            std::string::npos);
  EXPECT_NE(message_of<UsageError>([] { ResultLog("/dev/zero", true); }).find("needs --csv FILE"),
            std::string::npos);
}

TEST(ResultLog, ASecondOneOnTheSameFileIsRefusedUntilTheFirstHasEnded) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("r.csv", folder.path("link"));
  {
    const ResultLog first(folder.path("r.csv"), true);
    for (const char* name : {"r.csv", "link"}) {
      const std::string path = folder.path(name);
      EXPECT_NE(message_of<UsageError>([&] {
                  ResultLog(path, true);
                }).find("another process is writing it"),
                std::string::npos);
    }
  }
  ResultLog(folder.path("r.csv"), true);
  EXPECT_EQ(folder.files(), 1u);
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
