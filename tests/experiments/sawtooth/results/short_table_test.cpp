#include "experiments/sawtooth/results/short_table.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/columns.hpp"

namespace sawtooth::experiments {
namespace {

CsvRow row(const char* scan, const char* seq, const char* reads, const char* time_us) {
  CsvRow cells(result_columns.size());
  cells[result_column("gpu")] = "gb10";
  cells[result_column("seq_q")] = cells[result_column("seq_kv")] = seq;
  cells[result_column("scan")] = scan;
  cells[result_column("timing")] = "timed";
  cells[result_column("l2")] = "halves";
  cells[result_column("dram_read_sectors")] = reads;
  cells[result_column("cold_read_sectors")] = "400";
  cells[result_column("time_us")] = time_us;
  return cells;
}

TEST(ShortTable, ShowsWhatVariesAndReadsInMultiplesOfTheCompulsoryOnes) {
  EXPECT_EQ(short_table(
                {row("linear", "4096", "1000", "12.50"), row("sawtooth", "131072", "400", "7.25")}),
            "seq_q  scan      DRAM reads / compulsory  time (us)  model\n"
            "   4K  linear                       2.50      12.50  timed, halves\n"
            " 128K  sawtooth                     1.00       7.25  timed, halves\n");
}

TEST(ShortTable, LeavesOutWhatNoRowHas) {
  EXPECT_EQ(short_table({row("linear", "100", "600", "")}),
            "DRAM reads / compulsory  model\n"
            "                   1.50  timed, halves\n");
}

TEST(ShortTable, CountsSectorsWhereTheCompulsoryOnesAreNotKnown) {
  CsvRow measured = row("linear", "100", "600", "");
  measured[result_column("cold_read_sectors")] = "";
  measured[result_column("timing")] = measured[result_column("l2")] = "";
  measured[result_column("source")] = "measured";
  EXPECT_EQ(short_table({measured}),
            "DRAM reads (sectors)  model\n"
            "                 600  measured\n");
}

}  // namespace
}  // namespace sawtooth::experiments
