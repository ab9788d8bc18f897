#include "experiments/sawtooth/results/result_log.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

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

// What a file of these rows holds.
std::string table(const std::vector<CsvRow>& rows) {
  std::string text = result_header();
  for (const CsvRow& cells : rows) text += csv_line(cells);
  return text;
}

class Log : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string path = folder.path("r.csv");

  std::string written() const { return folder.read("r.csv"); }
  std::string partial() const { return folder.read("r.csv.partial"); }
  // Why a log of `at` is refused.
  std::string refusal(const std::string& at, OldRows old = OldRows::resume) const {
    return message_of<UsageError>([&] { ResultLog(at, old); });
  }
};

TEST_F(Log, TheFileAppearsWhenItIsFinished) {
  ResultLog log(path, OldRows::replace_finished);
  log.start();
  log.append(row("1"));
  EXPECT_EQ(written(), "");
  EXPECT_EQ(partial(), table({row("1")}));
  log.finish();
  EXPECT_EQ(written(), table({row("1")}));
  EXPECT_FALSE(std::filesystem::exists(log.partial_path()));
}

TEST_F(Log, ThePartialFileStaysWhereTheTableIsNotRenamedOrAnotherRunHasOneThere) {
  {
    ResultLog log(path, OldRows::replace_finished);
    log.start();
    log.append(row("1"));
    std::filesystem::create_directory(path);
    EXPECT_THROW(log.finish(), std::runtime_error);
    EXPECT_EQ(partial(), table({row("1")}));
  }
  std::filesystem::remove(path);
  ResultLog log(path, OldRows::overwrite);
  log.start();
  std::filesystem::rename(folder.write("other", "x"), log.partial_path());
  log.finish();
  EXPECT_EQ(partial(), "x");
}

TEST_F(Log, AFileOfOneEndlessLineIsNoEmptyOne) {
  folder.write("r.csv", "");
  std::filesystem::resize_file(path, uint64_t{1} << 42);  // of which no memory holds a copy
  EXPECT_THAT(refusal(path, OldRows::replace_finished), HasSubstr("is not replaced"));
}

TEST_F(Log, RowsAppearAsTheyFinishAndTheTableHasThemInOrder) {
  ResultLog log(path, OldRows::replace_finished);
  log.start();
  log.append_finished(row("2"));
  log.append_finished(row("1"));
  EXPECT_EQ(partial(), table({row("2"), row("1")}));
  log.append(row("1"), true);
  log.append(row("2"), true);
  log.finish();
  EXPECT_EQ(written(), table({row("1"), row("2")}));
  EXPECT_EQ(folder.files(), 1u);
}

TEST_F(Log, ResumeTakesCompleteRowsOverAndDropsABrokenLastLine) {
  folder.write("r.csv.partial", table({row("1")}) + "x,predicted,gb1");
  ResultLog log(path, OldRows::resume);
  EXPECT_TRUE(log.has(keys("1")));
  EXPECT_FALSE(log.has(keys("2")));
  log.refuse_changes({keys("1"), keys("2")});
  log.start();
  log.keep(keys("1"));
  log.append(row("2"));
  log.finish();
  EXPECT_EQ(written(), table({row("1"), row("2")}));
}

TEST_F(Log, ResumeKeepsTheRowsOfOtherSweeps) {
  folder.write("r.csv", table({row("9"), row("1")}));
  ResultLog log(path, OldRows::resume);
  log.refuse_changes({keys("0"), keys("1")});
  log.start();
  log.append(row("0"));
  log.keep(keys("1"));
  log.finish();
  EXPECT_EQ(written(), table({row("9"), row("0"), row("1")}));
}

TEST_F(Log, ATableOfAnotherShapeIsRefusedAndStays) {
  folder.write("r.csv", "a,b\n1,2\n");
  EXPECT_THAT(refusal(path), HasSubstr("its columns are not those of results.csv"));
  EXPECT_EQ(written(), "a,b\n1,2\n");
}

TEST_F(Log, ALinkToTheTableStaysALink) {
  folder.write("r.csv", "old");
  std::filesystem::create_symlink("r.csv", folder.path("link"));
  ResultLog log(folder.path("link"), OldRows::overwrite);
  log.start();
  log.append(row("1"));
  log.finish();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(written(), table({row("1")}));
}

TEST_F(Log, AnOpenFileBehindALinkOfProcGetsTheRowsAsTheyCome) {
  const int open_file = open(folder.write("a", "").c_str(), O_WRONLY);
  ASSERT_GE(open_file, 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(open_file),
                                  folder.path("link"));
  ResultLog log(folder.path("link"), OldRows::replace_finished);
  log.start();
  log.append(row("1"));
  EXPECT_EQ(folder.read("a"), table({row("1")}));
  log.finish();
  close(open_file);
  EXPECT_EQ(folder.read("a"), table({row("1")}));
  EXPECT_EQ(folder.files(), 2u);
}

TEST_F(Log, AFolderIsRefusedAndSoIsADeviceToGoOnWith) {
  EXPECT_THAT(refusal(folder.path(""), OldRows::replace_finished), HasSubstr("is a folder"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("needs --csv FILE"));
}

TEST_F(Log, ASecondOneOnTheSameFileIsRefusedUntilTheFirstHasEnded) {
  std::filesystem::create_symlink("r.csv", folder.path("link"));
  {
    const ResultLog first(path, OldRows::resume);
    for (const char* name : {"r.csv", "link"})
      EXPECT_THAT(refusal(folder.path(name)), HasSubstr("another output is written there"));
  }
  ResultLog(path, OldRows::resume);
  EXPECT_EQ(folder.files(), 1u);
}

// A row of seq 1 that was made with the file that `inputs` names.
CsvRow made_with(const std::string& inputs) {
  CsvRow cells = keys("1");
  cells[result_column("inputs")] = inputs;
  return cells;
}

TEST_F(Log, ResumeSaysWhatHasChangedAndRefuses) {
  const auto refusal = [&](const CsvRow& before, const CsvRow& now) {
    const std::string old = table({before});
    folder.write("r.csv", old);
    const std::string message =
        message_of<UsageError>([&] { ResultLog(path, OldRows::resume).refuse_changes({now}); });
    EXPECT_EQ(written(), old);
    return message;
  };
  const auto of = [](const CsvRow& cells) { return predicted_row(cells, sim::Counters()); };
  EXPECT_THAT(refusal(of(made_with("costs=1 gpu=2")), made_with("costs=9 gpu=2")),
              HasSubstr("another costs;"));
  EXPECT_THAT(refusal(of(made_with("gpu=2")), made_with("gpu=3 order=1")),
              HasSubstr("another gpu, order;"));
  CsvRow newer = made_with("");
  newer[result_column("version")] = "9.9";
  EXPECT_THAT(refusal(of(made_with("")), newer), HasSubstr("another version;"));
  CsvRow predicted = keys("1");
  predicted[result_column("timing")] = "lockstep";
  CsvRow old = of(predicted);
  old[result_column("run_id")] = "000000000000";  // of the same cells, by another model_version
  EXPECT_THAT(refusal(old, predicted), HasSubstr("another model;"));
}

TEST_F(Log, TwoPointsOfOneNameAreNoChangeOfEachOther) {
  folder.write("r.csv.partial", table({predicted_row(made_with("gpu=1"), {})}));
  ResultLog log(path, OldRows::resume);
  log.refuse_changes({made_with("gpu=1"), made_with("gpu=2")});
  EXPECT_TRUE(log.has(made_with("gpu=1")));
  EXPECT_FALSE(log.has(made_with("gpu=2")));
}

TEST_F(Log, AnUnfinishedTableIsNotReplacedUnasked) {
  const std::string unfinished = table({row("1")});
  folder.write("r.csv.partial", unfinished);
  EXPECT_THAT(refusal(path, OldRows::replace_finished),
              AllOf(HasSubstr("--resume"), HasSubstr("--overwrite")));
  EXPECT_EQ(partial(), unfinished);
  EXPECT_EQ(folder.files(), 1u);
  ResultLog log(path, OldRows::overwrite);
  log.start();
  log.append(row("2"));
  log.finish();
  EXPECT_EQ(written(), table({row("2")}));
  EXPECT_EQ(folder.files(), 1u);
}

TEST_F(Log, AHeaderAloneIsNothingThatCouldBeLost) {
  folder.write("r.csv.partial", result_header());
  ResultLog(path, OldRows::replace_finished);
}

CsvRow refused(const std::string& seq) {
  return row_without_result(keys(seq), status_refused, "no");
}

TEST_F(Log, RefusedRowsComeWithTheFirstOtherOneInTheOrderOfTheSweep) {
  ResultLog log(path, OldRows::replace_finished);
  log.start();
  log.append(refused("1"));
  EXPECT_EQ(partial(), result_header());
  log.append(row("2"));
  log.append(refused("3"));
  log.finish();
  EXPECT_EQ(log.failures(), 2);
  EXPECT_EQ(written(), table({refused("1"), row("2"), refused("3")}));
}

TEST_F(Log, ASweepThatIsRefusedAsAWholeLeavesNothing) {
  {
    ResultLog log(path, OldRows::replace_finished);
    log.start();
    log.append(refused("1"));
    EXPECT_EQ(message_of<Refusal>([&] { log.finish(); }), "no");
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST_F(Log, ResumeTriesRefusedRowsAgainAndKeepsThoseOfOtherSweeps) {
  folder.write("r.csv", table({refused("1"), refused("9")}));
  ResultLog log(path, OldRows::resume);
  EXPECT_FALSE(log.has(keys("1")));
  log.refuse_changes({keys("1")});
  log.start();
  log.append(row("1"));
  log.finish();
  EXPECT_EQ(written(), table({refused("9"), row("1")}));
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
