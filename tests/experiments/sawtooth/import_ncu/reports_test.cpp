// Every form in which ncu writes a table gives the counters that a reader of the file sees: pages,
// units, encodings, separators, names by chip. Expected values are the cells of the files,
// converted by hand: a sector is 32 bytes.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using testing::HasSubstr;

constexpr Command import_ncu_command = command_named("import-ncu");

using Cells = std::vector<std::pair<std::string, std::string>>;
using test::message_of;
using test::TemporaryFolder;

NcuTables imported(const std::string& text) {
  return ncu_tables(parse_ncu_report(text, "r.csv"), known_ncu_metrics(), "run", "r.csv");
}

std::string file_text(const std::string& name) {
  return read_text_file(SAWTOOTH_NCU_REPORTS "/" + name);
}

CsvTable rows_of(const std::string& name) {
  return parse_csv(imported(file_text(name)).rows, "rows");
}

void expect_cells(const CsvTable& rows, size_t row, const Cells& cells) {
  ASSERT_LT(row, rows.rows.size());
  for (const auto& [column, text] : cells) EXPECT_EQ(rows.cell(row, column), text) << column;
}

const Cells first_launch{{"dram_read_sectors", "16935936"},
                         {"dram_write_sectors", "3984896"},
                         {"l2_read_sectors", "1082130432"},
                         {"l2_read_miss_sectors", "30210000"},
                         {"l2_write_sectors", "4194304"},
                         {"l2_write_miss_sectors", "4194304"},
                         {"sm_read_sectors", "1082130432"},
                         {"grid", "256x1x16"},
                         {"block", "128x1x1"},
                         {"status", "ok"}};
const Cells second_launch{{"dram_read_sectors", "16965936"},
                          {"dram_write_sectors", "3984890"},
                          {"l2_read_miss_sectors", "30310000"},
                          {"status", "ok"}};

// A row a metric; units, of which 541.95 Mbyte would be 16,935,938 sectors: sectors beat rounded
// bytes; and decimal commas beside semicolons.
TEST(NcuReports, PagesUnitsAndSeparatorsGiveTheSameCounters) {
  const std::pair<const char*, std::pair<const char*, const char*>> files[] = {
      {"details_one_metric_a_row.csv", {"24512.35", "24498.11"}},
      {"units_auto.csv", {"24510.00", "24500.00"}},
      {"semicolon_locale.csv", {"24512.35", "24498.11"}}};
  for (const auto& [name, times_us] : files) {
    SCOPED_TRACE(name);
    const CsvTable rows = rows_of(name);
    ASSERT_EQ(rows.rows.size(), 2u);
    expect_cells(rows, 0, first_launch);
    expect_cells(rows, 1, second_launch);
    expect_cells(rows, 0, {{"profiled_time_us", times_us.first}});
    expect_cells(rows, 1, {{"profiled_time_us", times_us.second}});
  }
}

TEST(NcuReports, NamesAndOtherMetricsMayHoldCommas) {
  const NcuTables tables = imported(file_text("semicolon_locale.csv"));
  EXPECT_TRUE(parse_csv(tables.rows, "rows")
                  .cell(0, "kernel_name")
                  .starts_with("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64"));
  EXPECT_THAT(tables.long_table, HasSubstr("lts__t_sector_hit_rate.pct,97.21,%"));
}

TEST(NcuReports, TheNamesOfChip120CountBytes) {
  const NcuTables tables = imported(file_text("sm120_names.csv"));
  // 16.99 and 0.71 Mbyte / 32; 66.56 Kbyte.
  expect_cells(parse_csv(tables.rows, "rows"), 0,
               {{"dram_read_sectors", "530938"},
                {"dram_write_sectors", "22188"},
                {"shared_bytes", "66560"},
                {"profiled_time_us", "357.54"},
                {"status", "ok"}});
  EXPECT_THAT(tables.long_table, HasSubstr("lts__t_sectors.sum,16796510,sector"));
  EXPECT_THAT(tables.long_table, HasSubstr("lts__t_sectors_lookup_hit.sum,16260221,sector"));
}

TEST(NcuReports, CountsMayHaveDecimals) {
  expect_cells(rows_of("float_counts.csv"), 0,
               {{"l2_read_sectors", "7340032"}, {"profiled_time_us", "589.86"}, {"status", "ok"}});
}

TEST(NcuReports, TextMayBeUtf16OfEitherEnd) {
  const Cells cells{{"kernel_name", "flash"},
                    {"l2_read_sectors", "7340032"},
                    {"profiled_time_us", "589.86"},
                    {"status", "ok"}};
  std::string text = file_text("utf16.csv");
  expect_cells(parse_csv(imported(text).rows, "rows"), 0, cells);
  for (size_t i = 0; i + 1 < text.size(); i += 2) std::swap(text[i], text[i + 1]);
  expect_cells(parse_csv(imported(text).rows, "rows"), 0, cells);
}

TEST(NcuReports, ValuesThatNoLaunchHasGetAStatus) {
  const NcuTables tables = imported(file_text("hit_rate_over_100.csv"));
  expect_cells(parse_csv(tables.rows, "rows"), 0,
               {{"l2_read_sectors", "33554432"},
                {"l2_read_miss_sectors", "41943040"},
                {"dram_read_sectors", "1048576"},
                {"status", "impossible"}});
  const std::string head = "ID,Kernel Name,Grid Size,Block Size,dram__sectors_read.sum,";
  const std::string over = head + "lts__t_sector_hit_rate.pct\n,,,,sector,%\n0,k,1,1,5,171.2\n";
  expect_cells(parse_csv(imported(over).rows, "rows"), 0, {{"status", "impossible"}});
}

TEST(NcuReports, ARowWithoutCountersSaysWhatItHasAndWhatGivesMore) {
  const CsvTable rows = rows_of("details_with_rules.csv");
  ASSERT_EQ(rows.rows.size(), 2u);
  expect_cells(rows, 0, {{"status", "no-counters"}, {"profiled_time_us", "24510.00"}});
  const std::string message = rows.cell(0, "message");
  EXPECT_THAT(message,
              HasSubstr("only such as DRAM Frequency, Duration, L2 Cache Throughput, L2 Hit Rate"));
  EXPECT_THAT(message, HasSubstr("--metrics"));
  const TemporaryFolder folder;
  EXPECT_EQ(run_import_ncu(import_ncu_command, {SAWTOOTH_NCU_REPORTS "/details_with_rules.csv",
                                                "--csv", folder.path("o.csv")}),
            1);
}

// Memory of GB10 is the system's, that of other GPUs is not.
TEST(NcuReports, FillsFromTheSystemAreDramReadsWhereItsMemoryIsTheGpus) {
  const auto reads = [](const std::string& compute) {
    return parse_csv(
               imported("ID,Kernel Name,Grid Size,Block Size,CC,lts__d_sectors_fill_sysmem.sum\n"
                        ",,,,,sector\n0,k,1,1," +
                        compute + ",786432.000000\n")
                   .rows,
               "rows")
        .cell(0, "dram_read_sectors");
  };
  EXPECT_EQ(reads("12.1"), "786432");
  EXPECT_EQ(reads("9.0"), "");
}

TEST(NcuReports, GroupsThatAreNoThousandsAreNoNumber) {
  const std::string head =
      "ID,Kernel Name,Grid Size,Block Size,dram__sectors_read.sum\n,,,,sector\n";
  for (const char* text : {"\"24,51\"", "\"1,2345\"", "\",123\"", "\"1.5,000\"", "1e5x"})
    EXPECT_THROW(imported(head + "0,k,1,1," + text + "\n"), UsageError) << text;
  expect_cells(parse_csv(imported(head + "0,k,1,1,1 234'567\n").rows, "rows"), 0,
               {{"dram_read_sectors", "1234567"}});
}

// A program of that name prints a report where it is asked for one, as the ncu of Nsight Compute.
TEST(NcuReports, AReportOfNsightComputeIsReadByNcu) {
  const TemporaryFolder folder;
  const std::string report = folder.write("r.ncu-rep", "NVR"), out = folder.path("o.csv"),
                    before = std::getenv("PATH");
  const auto import = [&] { return run_import_ncu(import_ncu_command, {report, "--csv", out}); };
  setenv("PATH", folder.path("").c_str(), 1);
  EXPECT_THAT(message_of<UsageError>(import),
              HasSubstr("ncu, which reads such a report, is not on the path"));
  std::filesystem::permissions(
      folder.write("ncu", "#!/bin/sh\n[ \"$*\" = '--import " + report +
                              " --page raw --csv --print-units base' ] || exit 9\nexec /bin/cat " +
                              SAWTOOTH_NCU_REPORTS "/float_counts.csv\n"),
      std::filesystem::perms::owner_all);
  EXPECT_EQ(import(), 0);
  expect_cells(parse_csv(folder.read("o.csv"), "rows"), 0, {{"l2_read_sectors", "7340032"}});
  folder.write("ncu", "#!/bin/sh\nexit 1\n");
  EXPECT_THAT(message_of<UsageError>(import), HasSubstr("exit code 1"));
  setenv("PATH", before.c_str(), 1);
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

TEST(NcuReports, LaunchesAreRowsWithKnownMetricsInTheColumnsOfResults) {
  const NcuTables tables = imported(report);
  const CsvTable rows = parse_csv(tables.rows, "rows");
  ASSERT_EQ(rows.rows.size(), 2u);
  expect_cells(rows, 0,
               {{"kernel_name", "void flash_fwd_kernel<64, 1>(Params)"},
                {"grid", "16x8x2"},
                {"block", "128x1x1"},
                {"dram_read_sectors", "1234"},
                {"l2_read_sectors", "1234567"},
                {"profiled_time_us", "13.25"},
                {"registers", "255"},
                {"experiment", "run"},
                {"source", "measured"}});
  // "n/a" is no number.
  expect_cells(
      rows, 1,
      {{"l2_read_sectors", ""}, {"process", "1"}, {"launch_index", "5"}, {"stream", "13"}});
}

TEST(NcuReports, OtherMetricsAreKeptInALongTable) {
  const NcuTables tables = imported(report);
  const CsvTable others = parse_csv(tables.long_table, "others");
  ASSERT_EQ(others.rows.size(), 2u);
  expect_cells(others, 0,
               {{"metric", "sm__cycles_active.avg"}, {"value", "2000.50"}, {"unit", "cycle"}});
  expect_cells(others, 1, {{"launch_index", "5"}});
}

TEST(NcuReports, NamesOfTheTablesOfAllChipsAreKnown) {
  const auto columns = known_ncu_metrics();
  EXPECT_EQ(columns.at("dram__sectors_op_read.sum"), "dram_read_sectors");  // GB202
  EXPECT_EQ(columns.at("lts__t_sectors_srcunit_ltcfabric_op_read.sum"), "fabric_read_sectors");
}

TEST(NcuReports, AMapGivesMoreMetricsAColumn) {
  const TemporaryFolder folder;
  auto columns = known_ncu_metrics();
  add_metric_map(columns, folder.write("map.ini", "my__reads.sum = l2_read_sectors\n"));
  EXPECT_EQ(columns.at("my__reads.sum"), "l2_read_sectors");
  const std::string wrong = folder.write("wrong.ini", "# none\na.sum = l2_reads\n");
  EXPECT_THAT(message_of<UsageError>([&] { add_metric_map(columns, wrong); }),
              HasSubstr(wrong + ":2: 'l2_reads' is no counter of results.csv"));
}

TEST(NcuReports, WhatIsNoReportNamesFileAndLine) {
  const auto refusal = [](const std::string& text) {
    return message_of<UsageError>([&] { imported(text); });
  };
  EXPECT_THAT(refusal("==ERROR== no kernels\n"),
              HasSubstr("r.csv: has no line that begins with \"ID\""));
  EXPECT_THAT(refusal("\"ID\",\"Kernel Name\"\n"), HasSubstr("column 'Grid Size' is missing"));
  const std::string header = "x\n\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",";
  EXPECT_THAT(refusal(header + "\"a\"\n\"one\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1\"\n"),
              HasSubstr("r.csv:3: ID 'one' is no number"));
  EXPECT_THAT(refusal(header + "\"dram__sectors_read.sum\"\n\"\",\"\",\"\",\"\",\"%\"\n" +
                      "\"0\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"1.2\"\n"),
              HasSubstr("launch 0, dram__sectors_read.sum: '1.2 %' is no number of sectors"));
}

TEST(NcuReports, TheCommandWritesBothTablesOrNone) {
  const TemporaryFolder folder;
  const std::string out = folder.path("out.csv");
  EXPECT_EQ(run_import_ncu(import_ncu_command, {folder.write("r.csv", report), "--csv", out}), 0);
  EXPECT_EQ(parse_csv(folder.read("out.csv"), out).rows.size(), 2u);
  EXPECT_EQ(parse_csv(folder.read("out.csv.metrics.csv"), out).rows.size(), 2u);
  EXPECT_THROW(run_import_ncu(import_ncu_command, {folder.path("r.csv")}), UsageError);
}

}  // namespace
}  // namespace sawtooth::experiments
