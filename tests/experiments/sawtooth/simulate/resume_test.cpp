// Interrupting a sweep and going on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;

const std::string sweep = "simulate --gpu gb10 --seq 512,1K,2K --scan linear,sawtooth ";

std::string after_header(const std::string& table) {
  return table.substr(table.find('\n') + 1);
}

// Interrupted after each of its rows, in the middle of the next one, and resumed on other numbers
// of threads.
TEST(Resume, GivesTheSameBytesWhereverItWasInterruptedOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string options = sweep + "--mask none,causal --quiet --csv " + folder.path("r.csv");
  ASSERT_EQ(run_program(options + " --threads 1").exit_code, 0);
  const std::string whole = folder.read("r.csv");
  const auto rows = std::count(whole.begin(), whole.end(), '\n') - 1;
  ASSERT_EQ(rows, 12);
  size_t end = whole.find('\n') + 1;
  for (int row = 0; row < rows; ++row, end = whole.find('\n', end) + 1) {
    std::filesystem::remove(folder.path("r.csv"));
    folder.write("r.csv.partial", whole.substr(0, end + 30));
    const std::string threads = " --threads " + std::to_string(row % 5 + 1);
    ASSERT_EQ(run_program(options + " --resume" + threads).exit_code, 0);
    ASSERT_EQ(folder.read("r.csv"), whole) << "after row " << row << threads;
    ASSERT_EQ(folder.files(), 1u);
  }
}

TEST(Resume, DoesNotRepeatRowsThatAreThere) {
  const TemporaryFolder folder;
  const std::string options = sweep + "--csv " + folder.path("r.csv");
  ASSERT_EQ(run_program(options).exit_code, 0);
  // A count that no model gives shows that the row was taken over and not made again.
  std::string marked = folder.read("r.csv");
  const size_t row = marked.find('\n') + 1;
  const size_t cells = marked.find(",,", marked.find(",0,", marked.find("0.1.0", row)));
  marked.insert(cells + 2, "123456789");
  const size_t next_comma = marked.find(',', cells + 2);
  const size_t after = marked.find(',', next_comma + 1);
  ASSERT_LT(after, marked.size());
  folder.write("r.csv", marked);
  ASSERT_EQ(run_program(options + " --resume").exit_code, 0);
  EXPECT_EQ(folder.read("r.csv"), marked);
}

// Another process that has the lock, as a running sweep does: it is on the table that grows.
TEST(Resume, RefusesAFileThatAnotherProcessIsWriting) {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(sweep + "--resume --csv " + folder.path("r.csv"),
                                      "flock " + folder.path("r.csv.sawtooth-tmp") + " ");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("r.csv: another process is writing it"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path("r.csv")));
}

// The last point would take minutes; the first is done at once. The shell sends the signal. A sweep
// without that point goes on from what is left.
class Interrupt : public testing::TestWithParam<const char*> {};
TEST_P(Interrupt, LeavesCompleteRowsOnly) {
  const TemporaryFolder folder;
  const std::string out = folder.path("r.csv");
  const std::string command = "simulate --gpu gb10 --heads 1,4096 --seq 512,1M --threads 1 --csv " +
                              out + " --by-tensor " + folder.path("t.csv");
  const std::string shell =
      "/bin/sh -c '\"$0\" \"$@\" & pid=$!; n=0; while [ $(wc -l <" + out +
      ".partial 2>/dev/null || echo 0) -lt 2 ] && [ $n -lt 600 ]; do sleep 0.1; "
      "n=$((n+1)); done; kill -" +
      GetParam() + " $pid; wait $pid; echo $? >" + folder.path("code") + "' " SAWTOOTH_PROGRAM " " +
      command + " 2>" + folder.path("err");
  ASSERT_EQ(WEXITSTATUS(std::system(shell.c_str())), 0);
  EXPECT_EQ(folder.read("code"), "130\n");
  EXPECT_THAT(folder.read("err"), HasSubstr("--resume goes on"));
  const std::string rows = folder.read("r.csv.partial");
  EXPECT_TRUE(rows.ends_with("\n"));
  EXPECT_GE(std::count(rows.begin(), rows.end(), '\n'), 2);
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_FALSE(std::filesystem::exists(folder.path("t.csv")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("t.csv.sawtooth-tmp")));
  EXPECT_FALSE(std::filesystem::exists(folder.path("r.csv.sawtooth-tmp")));

  const std::string rest = "simulate --gpu gb10 --quiet --heads 1 --seq 256,512 --csv ";
  ASSERT_EQ(run_program(rest + out + " --resume --threads 3").exit_code, 0);
  ASSERT_EQ(run_program(rest + folder.path("fresh") + " --threads 1").exit_code, 0);
  EXPECT_THAT(folder.read("r.csv"), testing::EndsWith(after_header(folder.read("fresh"))));
}
INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, testing::Values("INT", "TERM"),
                         [](const auto& signal) { return std::string(signal.param); });

}  // namespace
}  // namespace sawtooth::test
