// Options, passes and rows of `sawtooth record`, and rows of Nsight Compute's CSV.
#include <string>

#include <gtest/gtest.h>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::test {
namespace {

/// Throws std::out_of_range for a row, and std::bad_optional_access for a column, that is not
/// there.
inline std::string cell(const experiments::CsvTable& table, size_t row, const std::string& column) {
  return table.rows.at(row).at(table.column(column).value());
}

}  // namespace
}  // namespace sawtooth::test

namespace sawtooth::experiments {
namespace {

constexpr Command import_ncu_command = command_named("import-ncu");

using test::cell;
using test::message_of;
using test::TemporaryFolder;

std::string refusal(const Arguments& arguments) {
  try {
    parse_record_arguments(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
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
  EXPECT_NE(refusal({"--kernel", "x"}).find("no command"), std::string::npos);
  EXPECT_NE(refusal({"--"}).find("no command"), std::string::npos);
  EXPECT_NE(refusal({"--kernl", "x", "--", "ls"}).find("'--kernl' is no option"),
            std::string::npos);
  EXPECT_EQ(refusal({"--csv", "--", "ls"}), "--csv: a value is missing");
  EXPECT_NE(refusal({"--kernel", "(", "--", "ls"}).find("--kernel: '(' is no regular"),
            std::string::npos);
  EXPECT_NE(refusal({"--skip", "-1", "--", "ls"}).find("--skip: "), std::string::npos);
  EXPECT_NE(refusal({"--metrics", ",", "--", "ls"}).find("--metrics: "), std::string::npos);
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
  try {
    merge_passes(passes, passes.size());
  } catch (const PassMismatch& error) {
    return error.what();
  }
  return "none";
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

TEST(MergePasses, AnInterruptedRecordingKeepsItsLaunchesAsIncomplete) {
  const auto merged = merge_passes({pass({launch("k", "4x1x1")})}, 5);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].status, "incomplete");
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
  EXPECT_EQ(cell(table, 0, "l2_read_sectors"), "4096");
  EXPECT_EQ(cell(table, 0, "sm_read_sectors"), "8192");  // of the first pass that read it
  EXPECT_EQ(cell(table, 0, "fill_device_sectors"), "77");
  EXPECT_EQ(cell(table, 0, "sm__cycles_active.avg"), "1.5");
  EXPECT_EQ(cell(table, 0, "profiled_time_us"), "13.25");
  EXPECT_EQ(cell(table, 0, "time_us"), "12.50");
  EXPECT_EQ(cell(table, 0, "kernel_name"), "flash<64, true>(Params)");
  EXPECT_EQ(cell(table, 0, "launch_index"), "7");
  EXPECT_EQ(cell(table, 0, "registers"), "");  // not known
  EXPECT_EQ(cell(table, 0, "source"), "measured");
  EXPECT_EQ(cell(table, 0, "state"), "cold");
  EXPECT_EQ(cell(table, 0, "replay_passes"), "2");
  EXPECT_EQ(cell(table, 0, "status"), "ok");
  EXPECT_EQ(cell(table, 0, "message"), "");  // 8192 and 8200 are within 0.5 %
  EXPECT_EQ(cell(table, 0, "dram_read_sectors"), "");
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
  EXPECT_EQ(cell(table, 0, "message"), "sm_read_sectors differs by 2.0 % between the runs");
}

TEST(RecordRows, LaunchesOfOneNameAndShapeAreRepetitions) {
  MergedLaunch other = some_launch();
  other.first.grid = "64x1x1";
  const CsvTable table = parse_csv(
      record_table({some_launch(), other, some_launch()}, metrics, "GH100", {}), "record.csv");
  EXPECT_EQ(cell(table, 0, "repetition"), "0");
  EXPECT_EQ(cell(table, 1, "repetition"), "0");
  EXPECT_EQ(cell(table, 2, "repetition"), "1");
}

// As ncu writes it: lines of its own and of the program, units under the header, every cell quoted.
const std::string report = R"csv(==PROF== Connected to process 4711 (/usr/bin/python3.12)
the program says "ID" here
==PROF== Profiling "flash_fwd_kernel" - 0: 0%....50%....100% - 4 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__sectors_read.sum","gpu__time_duration.sum","launch__registers_per_thread","lts__t_sectors_srcunit_tex_op_read.sum","sm__cycles_active.avg"
"","","","","","","","","","","","sector","ns","register/thread","sector","cycle"
"0","4711","python3.12","127.0.0.1","void flash_fwd_kernel<64, 1>(Params)","1","7","(128, 1, 1)","(16, 8, 2)","0","9.0","1,234","13,250","255","1,234,567","2,000.50"
==PROF== Disconnected from process 4712
"5","4712","python3.12","127.0.0.1","_attn_fwd","1","13","(256, 1, 1)","(64, 1, 1)","0","9.0","7","1000","128","n/a","1"
)csv";

TEST(ImportNcu, LaunchesAreRowsWithKnownMetricsInTheColumnsOfResults) {
  const NcuTables tables =
      ncu_tables(parse_ncu_report(report, "r.csv"), known_ncu_metrics(), "run", "r.csv");
  const CsvTable rows = parse_csv(tables.rows, "rows");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(cell(rows, 0, "kernel_name"), "void flash_fwd_kernel<64, 1>(Params)");
  EXPECT_EQ(cell(rows, 0, "grid"), "16x8x2");
  EXPECT_EQ(cell(rows, 0, "block"), "128x1x1");
  EXPECT_EQ(cell(rows, 0, "dram_read_sectors"), "1234");
  EXPECT_EQ(cell(rows, 0, "l2_read_sectors"), "1234567");
  EXPECT_EQ(cell(rows, 0, "profiled_time_us"), "13.25");
  EXPECT_EQ(cell(rows, 0, "registers"), "255");
  EXPECT_EQ(cell(rows, 0, "experiment"), "run");
  EXPECT_EQ(cell(rows, 0, "source"), "measured");
  EXPECT_EQ(cell(rows, 1, "l2_read_sectors"), "");  // n/a
  EXPECT_EQ(cell(rows, 1, "process"), "1");
  EXPECT_EQ(cell(rows, 1, "launch_index"), "5");
  EXPECT_EQ(cell(rows, 1, "stream"), "13");
}

TEST(ImportNcu, OtherMetricsAreKeptInALongTable) {
  const NcuTables tables =
      ncu_tables(parse_ncu_report(report, "r.csv"), known_ncu_metrics(), "run", "r.csv");
  const CsvTable others = parse_csv(tables.long_table, "others");
  ASSERT_EQ(others.rows.size(), 2u);
  EXPECT_EQ(cell(others, 0, "metric"), "sm__cycles_active.avg");
  EXPECT_EQ(cell(others, 0, "value"), "2000.50");
  EXPECT_EQ(cell(others, 0, "unit"), "cycle");
  EXPECT_EQ(cell(others, 1, "launch_index"), "5");
}

TEST(ImportNcu, NamesOfTheTablesOfAllChipsAreKnown) {
  const auto columns = known_ncu_metrics();
  EXPECT_EQ(columns.at("dram__sectors_op_read.sum"), "dram_read_sectors");  // GB202
  EXPECT_EQ(columns.at("lts__t_sectors_srcunit_ltcfabric_op_read.sum"), "fabric_read_sectors");
}

TEST(ImportNcu, AMapGivesMoreMetricsAColumn) {
  const TemporaryFolder folder;
  auto columns = known_ncu_metrics();
  add_metric_map(columns, folder.write("map.ini", "my__reads.sum = l2_read_sectors\n"));
  EXPECT_EQ(columns.at("my__reads.sum"), "l2_read_sectors");
  const std::string wrong = folder.write("wrong.ini", "# none\na.sum = l2_reads\n");
  EXPECT_NE(message_of<UsageError>([&] {
              add_metric_map(columns, wrong);
            }).find(wrong + ":2: 'l2_reads' is no counter of results.csv"),
            std::string::npos);
}

TEST(ImportNcu, WhatIsNoReportNamesFileAndLine) {
  const auto refusal = [](const std::string& text) {
    return message_of<UsageError>(
        [&] { ncu_tables(parse_ncu_report(text, "r.csv"), known_ncu_metrics(), "run", "r.csv"); });
  };
  EXPECT_NE(refusal("==ERROR== no kernels\n").find("r.csv: has no line that begins with \"ID\""),
            std::string::npos);
  EXPECT_NE(refusal("\"ID\",\"Kernel Name\"\n").find("column 'Grid Size' is missing"),
            std::string::npos);
  const std::string header = "x\n\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",";
  EXPECT_NE(refusal(header + "\"a\"\n\"one\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1\"\n")
                .find("r.csv:3: ID 'one' is no number"),
            std::string::npos);
  EXPECT_NE(refusal(header + "\"dram__sectors_read.sum\"\n\"\",\"\",\"\",\"\",\"%\"\n" +
                    "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1.2\"\n")
                .find("launch 0, dram__sectors_read.sum: '1.2 %' is no number of sectors"),
            std::string::npos);
}

TEST(ImportNcu, TheCommandWritesBothTablesOrNone) {
  const TemporaryFolder folder;
  const std::string out = folder.path("out.csv");
  EXPECT_EQ(run_import_ncu(import_ncu_command, {folder.write("r.csv", report), "--csv", out}), 0);
  EXPECT_EQ(parse_csv(folder.read("out.csv"), out).rows.size(), 2u);
  EXPECT_EQ(parse_csv(folder.read("out.csv.metrics.csv"), out).rows.size(), 2u);
  EXPECT_THROW(run_import_ncu(import_ncu_command, {folder.path("r.csv")}), UsageError);
}

}  // namespace
}  // namespace sawtooth::experiments
