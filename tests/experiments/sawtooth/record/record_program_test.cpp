// sawtooth record on programs of a driver and a CUPTI that are made up (tests/cupti/fake): what is
// injected, counted and written is the real code, only no GPU runs. A metric of a counted launch
// reads 1000 x launches in its range + its grid, so 1000 + grid when exactly it was counted.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::experiments {
namespace {

using test::column;
using test::Outcome;
using test::TemporaryFolder;

const std::string fakes =
    "LD_LIBRARY_PATH=" SAWTOOTH_FAKE_FOLDER " SAWTOOTH_CUPTI_DIR=" SAWTOOTH_FAKE_FOLDER " ";

Outcome record(const std::string& options, const std::string& words,
               const std::string& environment = "") {
  return test::run_program("record " + options + " -- " + SAWTOOTH_FAKE_PROGRAM + " " + words,
                           fakes + environment + " ");
}

using Cells = std::vector<std::string>;

TEST(RecordProgram, EveryMatchingLaunchIsARowWithCountersOfAllPasses) {
  const Outcome outcome =
      record("--kernel attention", "launch attention_a 5 launch gemm 6 launch attention_b 7");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(column(outcome.out, "kernel_name"), (Cells{"attention_a", "attention_b"}));
  EXPECT_EQ(column(outcome.out, "launch_index"), (Cells{"0", "2"}));
  EXPECT_EQ(column(outcome.out, "grid"), (Cells{"5x1x1", "7x1x1"}));
  EXPECT_EQ(column(outcome.out, "block"), (Cells{"128x1x1", "128x1x1"}));
  EXPECT_EQ(column(outcome.out, "shared_bytes"), (Cells{"1536", "1536"}));  // 1024 and 512
  EXPECT_EQ(column(outcome.out, "registers"), (Cells{"40", "40"}));
  EXPECT_EQ(column(outcome.out, "time_us"), (Cells{"125.00", "125.00"}));
  // Nine metrics, three a pass beside the three witnesses.
  EXPECT_EQ(column(outcome.out, "replay_passes"), (Cells{"3", "3"}));
  for (const char* counter : {"sm_read_sectors", "l2_read_sectors", "l2_read_miss_sectors",
                              "fabric_read_sectors", "dram_read_sectors", "fill_device_sectors"})
    EXPECT_EQ(column(outcome.out, counter), (Cells{"1005", "1007"})) << counter;
  EXPECT_NE(outcome.err.find("the program's output"), std::string::npos);  // not in the table
}

TEST(RecordProgram, AFlushAddsNoLaunchToTheRange) {
  const Outcome outcome = record("--flush --metrics a.sum", "launch k 5");
  EXPECT_EQ(column(outcome.out, "a.sum"), Cells{"1005"});
  EXPECT_EQ(column(outcome.out, "state"), Cells{"cold"});
}

TEST(RecordProgram, OnlyLaunchesInsideTheNvtxRangeMatch) {
  const Outcome outcome = record("--nvtx step --metrics a.sum",
                                 "launch k 1 push step launch k 2 push inner launch k 3 pop "
                                 "thread k 4 pop launch k 5");
  EXPECT_EQ(column(outcome.out, "grid"), (Cells{"2x1x1", "3x1x1"}));
}

TEST(RecordProgram, AGraphLaunchIsOneRowAndWhatItCapturesNone) {
  const Outcome outcome =
      record("--metrics a.sum", "capture on launch k 2 launch k 3 capture off graph launch k 4");
  EXPECT_EQ(column(outcome.out, "kernel_name"), (Cells{"graph", "k"}));
  EXPECT_EQ(column(outcome.out, "grid"), (Cells{"", "4x1x1"}));
  EXPECT_EQ(column(outcome.out, "a.sum"), (Cells{"1007", "1004"}));
}

TEST(RecordProgram, ContextsStreamsAndThreadsAreToldApart) {
  const Outcome outcome =
      record("--metrics a.sum",
             "launch k 1 context 2 stream 9 launch k 2 context 1 launch k 3 stream 8 thread k 4");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(column(outcome.out, "context"), (Cells{"0", "1", "0", "0"}));
  EXPECT_EQ(column(outcome.out, "stream"), (Cells{"0", "1", "1", "2"}));
  EXPECT_EQ(column(outcome.out, "a.sum"), (Cells{"1001", "1002", "1003", "1004"}));
  EXPECT_NE(outcome.err.find("note: launches of several streams"), std::string::npos);
}

TEST(RecordProgram, ChildProcessesHaveRowsAndAForkedChildHasNone) {
  const std::string program = SAWTOOTH_FAKE_PROGRAM;
  const Outcome both = test::run_program("record --metrics a.sum -- sh -c '" + program +
                                             " launch k 1 fork; " + program + " launch k 2'",
                                         fakes);
  EXPECT_EQ(column(both.out, "process"), (Cells{"0", "1"}));
  EXPECT_EQ(column(both.out, "grid"), (Cells{"1x1x1", "2x1x1"}));
}

// The first object of a context only asks whether it may count.
TEST(RecordProgram, OneObjectOfTheProfilerCountsUntilAnotherContextWantsTheCounters) {
  const Outcome outcome = record("--metrics objects.sum,a.sum",
                                 "launch k 1 launch k 2 graph context 2 launch k 3 launch k 4 "
                                 "context 1 launch k 5 launch k 6");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(column(outcome.out, "objects.sum"), (Cells{"2", "2", "2", "4", "4", "5", "5"}));
  EXPECT_EQ(column(outcome.out, "a.sum"),
            (Cells{"1001", "1002", "1007", "1003", "1004", "1005", "1006"}));
}

TEST(RecordProgram, AProcessThatWantsTheCountersGetsThemFromOneThatWaits) {
  const TemporaryFolder folder;
  const std::string child = std::string("\"" SAWTOOTH_FAKE_PROGRAM) + " launch k 2 launch k 3\"";
  const Outcome outcome =
      record("--metrics objects.sum,a.sum", "launch k 1 run " + child + " launch k 4",
             "SAWTOOTH_FAKE_COUNTERS=" + folder.path("counters"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(column(outcome.out, "process"), (Cells{"0", "0", "1", "1"}));
  EXPECT_EQ(column(outcome.out, "status"), (Cells{"ok", "ok", "ok", "ok"}));
  EXPECT_EQ(column(outcome.out, "a.sum"), (Cells{"1001", "1004", "1002", "1003"}));
  EXPECT_EQ(column(outcome.out, "objects.sum"), (Cells{"2", "3", "2", "2"}));
}

TEST(RecordProgram, AProgramThatDoesNotRepeatItselfIsRefused) {
  const TemporaryFolder folder;
  const std::string csv = folder.path("out.csv");
  const Outcome outcome = record("--metrics a.sum --csv " + csv,
                                 "launch k 1 once " + folder.path("mark") + " launch k 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("does not repeat its launches"), std::string::npos);
  EXPECT_NE(outcome.err.find("run 2, process 0, matching launches: 2, in run 1 1"),
            std::string::npos)
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(csv));
}

TEST(RecordProgram, OfAProgramThatCrashesTheFinishedLaunchesStay) {
  const Outcome outcome = record("--metrics a.sum", "launch k 1 launch k 2 crash launch k 3");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(column(outcome.out, "a.sum"), (Cells{"1001", "1002"}));
  EXPECT_EQ(column(outcome.out, "status"), (Cells{"ok", "ok"}));
  EXPECT_NE(outcome.err.find("run 2 of the command ended with signal 11"), std::string::npos);
}

TEST(RecordProgram, AnInterruptLeavesTheRowsThatWereFinished) {
  const TemporaryFolder folder;
  const std::string csv = folder.path("out.csv");
  // SIGTERM is passed on to the command; timeout sends it to `sawtooth` alone.
  const Outcome outcome = test::run_program(
      "record --metrics a.sum --csv " + csv + " -- " SAWTOOTH_FAKE_PROGRAM " launch k 1 wait",
      fakes + "timeout --foreground --preserve-status -s TERM 2 ");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const std::string text = folder.read("out.csv");
  EXPECT_EQ(column(text, "grid"), Cells{"1x1x1"});
  EXPECT_EQ(column(text, "status"), Cells{"incomplete"});
}

TEST(RecordProgram, BusyCountersAndMissingPermissionAreExitCodeThreeBeforeTheCommandRuns) {
  const auto with_error = [](const char* code) {
    return record("--metrics a.sum", "launch k 1",
                  std::string("SAWTOOTH_FAKE_ENABLE_ERROR=") + code);
  };
  const Outcome busy = with_error("26");
  EXPECT_EQ(busy.exit_code, 3);
  EXPECT_NE(busy.err.find("another profiler holds the GPU's counters"), std::string::npos);
  const Outcome denied = with_error("35");
  EXPECT_EQ(denied.exit_code, 3);
  EXPECT_NE(denied.err.find("the driver keeps counters for administrators"), std::string::npos);
  EXPECT_EQ(denied.err.find("the program's output"), std::string::npos);
  EXPECT_EQ(std::count(denied.err.begin(), denied.err.end(), '\n'), 1);
}

TEST(RecordProgram, CountersThatGoAwayMeanwhileAreAStatusOfTheirRows) {
  const Outcome outcome = test::run_program(
      "record --metrics a.sum -- env SAWTOOTH_FAKE_ENABLE_ERROR=26 " SAWTOOTH_FAKE_PROGRAM
      " launch k 1",
      fakes);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(column(outcome.out, "status"), Cells{"counters-busy"});
  EXPECT_EQ(column(outcome.out, "a.sum"), Cells{""});
}

TEST(RecordProgram, WithoutAGpuItEndsWithThreeAndOneLine) {
  const Outcome outcome = record("", "launch k 1", "SAWTOOTH_FAKE_NO_GPU=1");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(RecordProgram, WhatCannotWorkIsSaidInOneLine) {
  EXPECT_EQ(record("--kernel none_such --metrics a.sum", "launch k 1").exit_code, 1);
  EXPECT_EQ(record("--metrics no_such.sum", "launch k 1").exit_code, 2);
  EXPECT_EQ(record("--metrics a.sum", "launch k 1", "CUDA_INJECTION64_PATH=x").exit_code, 2);
  const Outcome missing = test::run_program("record --metrics a.sum -- ./no_such_program", fakes);
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("./no_such_program: cannot be started"), std::string::npos);
}

TEST(RecordProgram, TheInjectedLibraryIsAtMostTwoMegabytes) {
  EXPECT_LE(std::filesystem::file_size(SAWTOOTH_INJECTED_LIBRARY), 2u << 20);
}

}  // namespace
}  // namespace sawtooth::experiments
