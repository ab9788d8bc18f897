#include <gtest/gtest.h>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/results/result_log.hpp"

namespace sawtooth::experiments {
namespace {

CsvRow row(const char* scan, const char* seq, const char* reads, const char* time_us) {
  CsvRow cells(result_columns.size());
  cells[result_column("gpu")] = "gb10";
  cells[result_column("seq_q")] = cells[result_column("seq_kv")] = seq;
  cells[result_column("scan")] = scan;
  cells[result_column("timing")] = "timed";
  cells[result_column("l2")] = "halves";
  cells[result_column("judged")] = "measured";
  cells[result_column("dram_read_sectors")] = reads;
  cells[result_column("cold_read_sectors")] = "400";
  cells[result_column("time_us")] = time_us;
  return cells;
}

TEST(ShortTable, ShowsWhatVariesAndReadsInMultiplesOfTheCompulsoryOnes) {
  EXPECT_EQ(short_table(
                {row("linear", "4096", "1000", "12.50"), row("sawtooth", "131072", "400", "7.25")}),
            "seq_q  scan      DRAM reads / compulsory  time (us)  model          judged\n"
            "   4K  linear                       2.50      12.50  timed, halves  measured\n"
            " 128K  sawtooth                     1.00       7.25  timed, halves  measured\n"
            "all: kernel mma\n");
}

// A system's kernel is not one of this project's.
TEST(ShortTable, NamesNoKernelOfASystem) {
  CsvRow row_of_system = row("linear", "100", "600", "");
  row_of_system[result_column("system")] = "cudnn";
  EXPECT_EQ(short_table({row_of_system}).find("kernel"), std::string::npos);
}

TEST(ShortTable, LeavesOutWhatNoRowHas) {
  EXPECT_EQ(short_table({row("linear", "100", "600", "")}),
            "DRAM reads / compulsory  model          judged\n"
            "                   1.50  timed, halves  measured\nall: kernel mma, scan linear\n");
}

TEST(ShortTable, CountsSectorsWhereTheCompulsoryOnesAreNotKnown) {
  CsvRow measured = row("linear", "100", "600", "");
  measured[result_column("cold_read_sectors")] = "";
  measured[result_column("timing")] = measured[result_column("l2")] = "";
  measured[result_column("judged")] = "";
  measured[result_column("source")] = "measured";
  EXPECT_EQ(short_table({measured}),
            "DRAM reads (sectors)  model\n"
            "                 600  measured\nall: kernel mma, scan linear\n");
}

// Quantiles of type 7: of 10, 20 and 40 the median is 20, 10 % lie below 12 and 90 % below 36.
TEST(ShortTable, JoinsTheRepetitionsOfAPoint) {
  std::vector<CsvRow> rows;
  for (const char* time_us : {"40.0", "10.0", "20.0"}) {
    rows.push_back(row("linear", "100", "600", time_us));
    rows.back()[result_column("repetition")] = std::to_string(rows.size() - 1);
    for (const size_t column :
         {result_column("timing"), result_column("l2"), result_column("judged")})
      rows.back()[column] = "";
    rows.back()[result_column("source")] = "measured";
  }
  rows[0][result_column("dram_read_sectors")] = "800";
  EXPECT_EQ(short_table(rows),
            "DRAM reads / compulsory  time (us)  10 to 90 % (us)  model\n"
            "                   1.50       20.0     12.0 to 36.0  measured, median of 3\n"
            "all: kernel mma, scan linear\n");
}

}  // namespace
}  // namespace sawtooth::experiments
