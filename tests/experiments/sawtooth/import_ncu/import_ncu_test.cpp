#include <gtest/gtest.h>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/cell.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::cell;
using test::message_of;
using test::TemporaryFolder;

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
  // Without --print-units base large counts lose their digits.
  EXPECT_NE(refusal(header + "\"dram__sectors_read.sum\"\n\"\",\"\",\"\",\"\",\"Ksector\"\n" +
                    "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1.2\"\n")
                .find("launch 0, dram__sectors_read.sum: '1.2 Ksector' is no number of sectors"),
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
