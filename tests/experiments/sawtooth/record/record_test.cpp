// Options, passes and rows of `sawtooth record`.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using testing::HasSubstr;

std::string refusal(const Arguments& arguments) {
  return test::message_of<UsageError>([&] { parse_record_arguments(arguments); });
}

TEST(RecordArguments, OptionsStandBeforeTheDashesAndTheCommandBehind) {
  const RecordArguments record = parse_record_arguments(
      {"--kernel", "flash|attn", "--nvtx=step", "--skip", "2", "--count", "10", "--flush",
       "--metrics", "a.sum, b.sum", "--csv", "out.csv", "--", "python", "x.py", "--kernel", "--"});
  EXPECT_EQ(record.launches, (inject::PassRequest{"flash|attn", "step", 2, 10, true, {}}));
  EXPECT_EQ(record.metrics, (std::vector<std::string>{"a.sum", "b.sum"}));
  EXPECT_EQ(record.csv, "out.csv");
  EXPECT_EQ(record.command, (std::vector<std::string>{"python", "x.py", "--kernel", "--"}));
}

TEST(RecordArguments, MistakesAreRefusedWithTheirKey) {
  EXPECT_THAT(refusal({"--kernel", "x"}), HasSubstr("no command"));
  EXPECT_THAT(refusal({"--"}), HasSubstr("no command"));
  EXPECT_THAT(refusal({"--kernl", "x", "--", "ls"}), HasSubstr("'--kernl' is no option"));
  EXPECT_EQ(refusal({"--csv", "--", "ls"}), "--csv: a value is missing");
  EXPECT_THAT(refusal({"--kernel", "(", "--", "ls"}), HasSubstr("--kernel: '(' is no regular"));
  EXPECT_THAT(refusal({"--skip", "-1", "--", "ls"}), HasSubstr("--skip: "));
  EXPECT_THAT(refusal({"--metrics", ",", "--", "ls"}), HasSubstr("--metrics: "));
}

inject::LaunchRecord launch(const std::string& name, const std::string& grid,
                            std::map<std::string, double> values = {}) {
  inject::LaunchRecord record;
  record.name = name;
  record.grid = grid;
  record.values = std::move(values);
  return record;
}

PassRecord pass(std::vector<inject::LaunchRecord> launches, bool complete = true) {
  return {{{"program", std::move(launches), {}}}, complete};
}

std::string mismatch_of(const std::vector<PassRecord>& passes) {
  return test::message_of<PassMismatch>([&] { merge_passes(passes, passes.size()); });
}

TEST(MergePasses, ValuesOfAllPassesComeTogetherByOrder) {
  const auto merged = merge_passes(
      {pass({launch("k", "4x1x1"), launch("k", "4x1x1")}),
       pass({launch("k", "4x1x1", {{"w", 1}, {"a", 10}}), launch("k", "4x1x1", {{"w", 2}})}),
       pass({launch("k", "4x1x1", {{"w", 3}, {"b", 20}}), launch("k", "4x1x1", {{"w", 4}})})},
      3);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].values.at("w"), (std::vector<double>{1, 3}));
  EXPECT_EQ(merged[0].values.at("a"), std::vector<double>{10});
  EXPECT_EQ(merged[0].values.at("b"), std::vector<double>{20});
  EXPECT_EQ(merged[1].values.at("w"), (std::vector<double>{2, 4}));
  EXPECT_EQ(merged[1].passes, 2);
  EXPECT_EQ(merged[1].status, "ok");
}

TEST(MergePasses, AnotherNameGridOrNumberOfLaunchesIsRefusedAndNamed) {
  const PassRecord first = pass({launch("k", "4x1x1"), launch("k", "8x1x1")});
  EXPECT_EQ(mismatch_of({first, pass({launch("k", "4x1x1"), launch("m", "8x1x1")})}),
            "run 2, process 0: matching launch 1 is 'm' of grid 8x1x1, in run 1 it was 'k' of grid "
            "8x1x1");
  EXPECT_EQ(mismatch_of({first, first, pass({launch("k", "4x1x1"), launch("k", "4x1x1")})}),
            "run 3, process 0: matching launch 1 is 'k' of grid 4x1x1, in run 1 it was 'k' of grid "
            "8x1x1");
  EXPECT_EQ(mismatch_of({first, pass({launch("k", "4x1x1")})}),
            "run 2, process 0, matching launches: 1, in run 1 2");
  PassRecord two = first;
  two.processes.push_back({});
  EXPECT_EQ(mismatch_of({first, two}), "run 2, processes that use CUDA: 2, in run 1 1");
}

TEST(MergePasses, OfARunThatCrashedTheFinishedLaunchesCount) {
  const auto merged = merge_passes({pass({launch("k", "4x1x1"), launch("k", "8x1x1")}),
                                    pass({launch("k", "4x1x1", {{"a", 10}})}, false)},
                                   2);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].status, "ok");
  EXPECT_EQ(merged[0].values.at("a"), std::vector<double>{10});
  EXPECT_EQ(merged[1].status, "incomplete");
  EXPECT_EQ(merged[1].message, "only 1 of 2 runs of the command finished this launch");
}

TEST(MergePasses, AFailedReadingKeepsItsOwnStatus) {
  inject::LaunchRecord busy = launch("k", "4x1x1");
  busy.status = "counters-busy";
  busy.message = "another profiler";
  const auto merged = merge_passes(
      {pass({launch("k", "4x1x1")}), pass({busy}), pass({launch("k", "4x1x1", {{"a", 1}})})}, 3);
  EXPECT_EQ(merged[0].status, "counters-busy");
  EXPECT_EQ(merged[0].message, "another profiler");
  EXPECT_EQ(merged[0].passes, 1);
}

TEST(MergePasses, NotesAreSaidOnce) {
  PassRecord first = pass({});
  first.processes.front().notes = {"a", "b"};
  EXPECT_EQ(notes_of({first, first}), (std::vector<std::string>{"a", "b"}));
}

MergedLaunch some_launch() {
  MergedLaunch launch;
  launch.first.index = 7;
  launch.first.name = "flash<64, true>(Params)";
  launch.first.grid = "132x1x1";
  launch.first.block = "128x1x1";
  launch.first.shared_bytes = 49152;
  launch.first.time_us = 12.5;
  launch.passes = 2;
  launch.values = {{"lts__t_sectors_srcunit_tex_op_read.sum", {4096}},
                   {"l1tex__m_xbar2l1tex_read_sectors.sum", {8192, 8200}},
                   {"lts__d_sectors_fill_device.sum", {77}},
                   {"gpu__time_duration.sum", {13250, 14000}},
                   {"sm__cycles_active.avg", {1.5}}};
  return launch;
}

const std::vector<std::string> metrics{"l1tex__m_xbar2l1tex_read_sectors.sum",
                                       "gpu__time_duration.sum",
                                       "lts__t_sectors_srcunit_tex_op_read.sum",
                                       "lts__d_sectors_fill_device.sum", "sm__cycles_active.avg"};

TEST(RecordRows, MetricsStandInTheColumnsOfResultsOrInTheirOwn) {
  const std::string text = record_table({some_launch()}, metrics, "GH100", {"run", "h200", "cold"});
  const CsvTable table = parse_csv(text, "record.csv");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.cell(0, "l2_read_sectors"), "4096");
  EXPECT_EQ(table.cell(0, "sm_read_sectors"), "8192");  // of the first pass that read it
  EXPECT_EQ(table.cell(0, "fill_device_sectors"), "77");
  EXPECT_EQ(table.cell(0, "sm__cycles_active.avg"), "1.5");
  EXPECT_EQ(table.cell(0, "profiled_time_us"), "13.25");
  EXPECT_EQ(table.cell(0, "time_us"), "12.50");
  EXPECT_EQ(table.cell(0, "kernel_name"), "flash<64, true>(Params)");
  EXPECT_EQ(table.cell(0, "launch_index"), "7");
  EXPECT_EQ(table.cell(0, "registers"), "");  // not known
  EXPECT_EQ(table.cell(0, "source"), "measured");
  EXPECT_EQ(table.cell(0, "state"), "cold");
  EXPECT_EQ(table.cell(0, "replay_passes"), "2");
  EXPECT_EQ(table.cell(0, "status"), "ok");
  EXPECT_EQ(table.cell(0, "message"), "");  // 8192 and 8200 are within 0.5 %
  EXPECT_EQ(table.cell(0, "dram_read_sectors"), "");
}

TEST(RecordRows, TheHeaderBeginsWithThatOfResults) {
  const CsvTable table =
      parse_csv(record_table({some_launch()}, metrics, "GH100", {}), "record.csv");
  for (size_t i = 0; i < result_columns.size(); ++i)
    EXPECT_EQ(table.header[i], result_columns[i].name);
}

TEST(RecordRows, ReplaysThatDifferAreSaid) {
  MergedLaunch launch = some_launch();
  launch.values["l1tex__m_xbar2l1tex_read_sectors.sum"] = {8192, 8192 * 1.02};
  const CsvTable table = parse_csv(record_table({launch}, metrics, "GH100", {}), "record.csv");
  EXPECT_EQ(table.cell(0, "message"), "sm_read_sectors differs by 2.0 % between the runs");
}

TEST(RecordRows, LaunchesOfOneNameAndShapeAreRepetitions) {
  MergedLaunch other = some_launch();
  other.first.grid = "64x1x1";
  const CsvTable table = parse_csv(
      record_table({some_launch(), other, some_launch()}, metrics, "GH100", {}), "record.csv");
  EXPECT_EQ(table.cell(0, "repetition"), "0");
  EXPECT_EQ(table.cell(1, "repetition"), "0");
  EXPECT_EQ(table.cell(2, "repetition"), "1");
}

}  // namespace
}  // namespace sawtooth::experiments
