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
  ResultLog log(folder.path("r.csv"), OldRows::replace_finished);
  log.start();
  log.append(row("1"));
  EXPECT_EQ(folder.read("r.csv"), "");
  EXPECT_EQ(folder.read("r.csv.partial"), result_header() + csv_line(row("1")));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("1")));
  EXPECT_FALSE(std::filesystem::exists(log.partial_path()));
}

TEST(ResultLog, RowsAppearAsTheyFinishAndTheTableHasThemInOrder) {
  const TemporaryFolder folder;
  ResultLog log(folder.path("r.csv"), OldRows::replace_finished);
  log.start();
  log.append_finished(row("2"));
  log.append_finished(row("1"));
  EXPECT_EQ(folder.read("r.csv.partial"),
            result_header() + csv_line(row("2")) + csv_line(row("1")));
  log.append(row("1"), true);
  log.append(row("2"), true);
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("1")) + csv_line(row("2")));
  EXPECT_EQ(folder.files(), 2u) << "the lock lives as long as the log";
}

TEST(ResultLog, ResumeTakesCompleteRowsOverAndDropsABrokenLastLine) {
  const TemporaryFolder folder;
  folder.write("r.csv.partial", result_header() + csv_line(row("1")) + "x,predicted,gb1");
  ResultLog log(folder.path("r.csv"), OldRows::resume);
  EXPECT_TRUE(log.has(keys("1")));
  EXPECT_FALSE(log.has(keys("2")));
  log.refuse_changes({keys("1"), keys("2")});
  log.start();
  log.keep(keys("1"));
  log.append(row("2"));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("1")) + csv_line(row("2")));
}

TEST(ResultLog, ResumeKeepsTheRowsOfOtherSweeps) {
  const TemporaryFolder folder;
  folder.write("r.csv", result_header() + csv_line(row("9")) + csv_line(row("1")));
  ResultLog log(folder.path("r.csv"), OldRows::resume);
  log.refuse_changes({keys("0"), keys("1")});
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
              ResultLog(path, OldRows::resume);
            }).find("its columns are not those of results.csv"),
            std::string::npos);
  EXPECT_EQ(folder.read("r.csv"), "a,b\n1,2\n");
}

TEST(ResultLog, ALinkToTheTableStaysALink) {
  const TemporaryFolder folder;
  folder.write("r.csv", "old");
  std::filesystem::create_symlink("r.csv", folder.path("link"));
  ResultLog log(folder.path("link"), OldRows::replace_finished);
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
  ResultLog log(folder.path("link"), OldRows::replace_finished);
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
  EXPECT_NE(message_of<UsageError>([&] {
              ResultLog(folder.path(""), OldRows::replace_finished);
            }).find("is a folder"),
            std::string::npos);
  EXPECT_NE(message_of<UsageError>([] {
              ResultLog("/dev/zero", OldRows::resume);
            }).find("needs --csv FILE"),
            std::string::npos);
}

TEST(ResultLog, ASecondOneOnTheSameFileIsRefusedUntilTheFirstHasEnded) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("r.csv", folder.path("link"));
  {
    const ResultLog first(folder.path("r.csv"), OldRows::resume);
    for (const char* name : {"r.csv", "link"}) {
      const std::string path = folder.path(name);
      EXPECT_NE(message_of<UsageError>([&] {
                  ResultLog(path, OldRows::resume);
                }).find("another process is writing it"),
                std::string::npos);
    }
  }
  ResultLog(folder.path("r.csv"), OldRows::resume);
  EXPECT_EQ(folder.files(), 1u);
}

// A row of seq 1 that was made with the file that `inputs` names.
CsvRow made_with(const std::string& inputs) {
  CsvRow cells = keys("1");
  cells[result_column("inputs")] = inputs;
  return cells;
}

TEST(ResultLog, ResumeSaysWhatHasChangedAndRefuses) {
  const TemporaryFolder folder;
  const auto refusal = [&](const CsvRow& before, const CsvRow& now) {
    const std::string old = result_header() + csv_line(predicted_row(before, sim::Counters()));
    const std::string path = folder.write("r.csv", old);
    const std::string message =
        message_of<UsageError>([&] { ResultLog(path, OldRows::resume).refuse_changes({now}); });
    EXPECT_EQ(folder.read("r.csv"), old);
    return message;
  };
  EXPECT_NE(refusal(made_with("costs=1 gpu=2"), made_with("costs=9 gpu=2")).find("another costs;"),
            std::string::npos);
  EXPECT_NE(refusal(made_with("gpu=2"), made_with("gpu=3 order=1")).find("another gpu, order;"),
            std::string::npos);
  CsvRow newer = made_with("");
  newer[result_column("version")] = "9.9";
  EXPECT_NE(refusal(made_with(""), newer).find("another version;"), std::string::npos);
}

TEST(ResultLog, ResumeRefusesRowsOfAnotherModel) {
  const TemporaryFolder folder;
  CsvRow predicted = keys("1");
  predicted[result_column("timing")] = "lockstep";
  CsvRow old = predicted_row(predicted, sim::Counters());
  old[result_column("run_id")] = "000000000000";  // of the same cells, by another model_version
  const std::string path = folder.write("r.csv", result_header() + csv_line(old));
  EXPECT_NE(message_of<UsageError>([&] {
              ResultLog(path, OldRows::resume).refuse_changes({predicted});
            }).find("another model;"),
            std::string::npos);
}

TEST(ResultLog, TwoPointsOfOneNameAreNoChangeOfEachOther) {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "r.csv.partial", result_header() + csv_line(predicted_row(made_with("gpu=1"), {})));
  ResultLog log(folder.path("r.csv"), OldRows::resume);
  log.refuse_changes({made_with("gpu=1"), made_with("gpu=2")});
  EXPECT_TRUE(log.has(made_with("gpu=1")));
  EXPECT_FALSE(log.has(made_with("gpu=2")));
}

TEST(ResultLog, AnUnfinishedTableIsNotReplacedUnasked) {
  const TemporaryFolder folder;
  const std::string unfinished = result_header() + csv_line(row("1"));
  folder.write("r.csv.partial", unfinished);
  const std::string path = folder.path("r.csv");
  const std::string message =
      message_of<UsageError>([&] { ResultLog(path, OldRows::replace_finished); });
  EXPECT_NE(message.find("--resume"), std::string::npos);
  EXPECT_NE(message.find("--overwrite"), std::string::npos);
  EXPECT_EQ(folder.read("r.csv.partial"), unfinished);
  EXPECT_EQ(folder.files(), 1u);
  ResultLog log(path, OldRows::overwrite);
  log.start();
  log.append(row("2"));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(row("2")));
  EXPECT_EQ(folder.files(), 2u) << "the lock lives as long as the log";
}

TEST(ResultLog, AHeaderAloneIsNothingThatCouldBeLost) {
  const TemporaryFolder folder;
  folder.write("r.csv.partial", result_header());
  ResultLog(folder.path("r.csv"), OldRows::replace_finished);
}

CsvRow refused(const std::string& seq) {
  return row_without_result(keys(seq), status_refused, "no");
}

TEST(ResultLog, RefusedRowsComeWithTheFirstOtherOneInTheOrderOfTheSweep) {
  const TemporaryFolder folder;
  ResultLog log(folder.path("r.csv"), OldRows::replace_finished);
  log.start();
  log.append(refused("1"));
  EXPECT_EQ(folder.read("r.csv.partial"), result_header());
  log.append(row("2"));
  log.append(refused("3"));
  log.finish();
  EXPECT_EQ(log.failures(), 2);
  EXPECT_EQ(folder.read("r.csv"),
            result_header() + csv_line(refused("1")) + csv_line(row("2")) + csv_line(refused("3")));
}

TEST(ResultLog, ASweepThatIsRefusedAsAWholeLeavesNothing) {
  const TemporaryFolder folder;
  {
    ResultLog log(folder.path("r.csv"), OldRows::replace_finished);
    log.start();
    log.append(refused("1"));
    EXPECT_EQ(message_of<Refusal>([&] { log.finish(); }), "no");
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(ResultLog, ResumeTriesRefusedRowsAgainAndKeepsThoseOfOtherSweeps) {
  const TemporaryFolder folder;
  folder.write("r.csv", result_header() + csv_line(refused("1")) + csv_line(refused("9")));
  ResultLog log(folder.path("r.csv"), OldRows::resume);
  EXPECT_FALSE(log.has(keys("1")));
  log.refuse_changes({keys("1")});
  log.start();
  log.append(row("1"));
  log.finish();
  EXPECT_EQ(folder.read("r.csv"), result_header() + csv_line(refused("9")) + csv_line(row("1")));
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

TEST(ResultRow, RunIdsHaveContentsOfFilesAndNoPaths) {
  const auto of = [](const std::string& path, const std::string& inputs) {
    CsvRow cells = made_with(inputs);
    cells[result_column("q_order")] = "file:" + path;
    cells[result_column("l2_hash_matrix")] = path;
    return cells;
  };
  EXPECT_EQ(run_id(of("/here/a", "order=1")), run_id(of("../there/b", "order=1")));
  EXPECT_EQ(row_key(of("/here/a", "order=1")), row_key(of("../there/b", "order=1")));
  EXPECT_NE(run_id(of("a", "order=1")), run_id(of("a", "order=2")));
  EXPECT_NE(row_key(of("a", "order=1")), row_key(of("a", "order=2")));
}

TEST(ResultRow, RunIdsFollowTheVersionOfTheModelWhereThereIsOne) {
  CsvRow predicted = keys("1");
  predicted[result_column("timing")] = "lockstep";
  CsvRow other = predicted;
  other[result_column("without")] = "merging";
  EXPECT_NE(run_id(predicted), run_id(keys("1")));
  EXPECT_NE(run_id(predicted), run_id(other));
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
