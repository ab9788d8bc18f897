// Every form in which ncu writes a table gives the counters that a reader of the file sees: pages,
// units, encodings, separators, names by chip. Expected values are the cells of the files,
// converted by hand: a sector is 32 bytes.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

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

TEST(NcuReports, ADetailsPageHasARowAMetric) {
  const CsvTable rows = rows_of("details_one_metric_a_row.csv");
  ASSERT_EQ(rows.rows.size(), 2u);
  expect_cells(rows, 0, first_launch);
  expect_cells(rows, 1, second_launch);
  expect_cells(rows, 0, {{"profiled_time_us", "24512.35"}});
  expect_cells(rows, 1, {{"profiled_time_us", "24498.11"}});
}

TEST(NcuReports, UnitsAreConvertedAndSectorsBeatRoundedBytes) {
  const CsvTable rows = rows_of("units_auto.csv");  // 541.95 Mbyte would be 16,935,938 sectors
  ASSERT_EQ(rows.rows.size(), 2u);
  expect_cells(rows, 0, first_launch);
  expect_cells(rows, 1, second_launch);
  expect_cells(rows, 0, {{"profiled_time_us", "24510.00"}});
  expect_cells(rows, 1, {{"profiled_time_us", "24500.00"}});
}

TEST(NcuReports, SemicolonsGoWithDecimalCommas) {
  const NcuTables tables = imported(file_text("semicolon_locale.csv"));
  const CsvTable rows = parse_csv(tables.rows, "rows");
  ASSERT_EQ(rows.rows.size(), 2u);
  expect_cells(rows, 0, first_launch);
  expect_cells(rows, 1, second_launch);
  expect_cells(rows, 0, {{"profiled_time_us", "24512.35"}});
  EXPECT_TRUE(rows.cell(0, "kernel_name")
                  .starts_with("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64"));
  EXPECT_NE(tables.long_table.find("lts__t_sector_hit_rate.pct,97.21,%"), std::string::npos);
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
  EXPECT_NE(tables.long_table.find("lts__t_sectors.sum,16796510,sector"), std::string::npos);
  EXPECT_NE(tables.long_table.find("lts__t_sectors_lookup_hit.sum,16260221,sector"),
            std::string::npos);
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
  EXPECT_NE(message.find("only such as DRAM Frequency, Duration, L2 Cache Throughput, L2 Hit Rate"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("--metrics"), std::string::npos) << message;
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
  EXPECT_NE(
      message_of<UsageError>(import).find("ncu, which reads such a report, is not on the path"),
      std::string::npos);
  std::filesystem::permissions(
      folder.write("ncu", "#!/bin/sh\n[ \"$*\" = '--import " + report +
                              " --page raw --csv --print-units base' ] || exit 9\nexec /bin/cat " +
                              SAWTOOTH_NCU_REPORTS "/float_counts.csv\n"),
      std::filesystem::perms::owner_all);
  EXPECT_EQ(import(), 0);
  expect_cells(parse_csv(folder.read("o.csv"), "rows"), 0, {{"l2_read_sectors", "7340032"}});
  folder.write("ncu", "#!/bin/sh\nexit 1\n");
  EXPECT_NE(message_of<UsageError>(import).find("exit code 1"), std::string::npos);
  setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace sawtooth::experiments
