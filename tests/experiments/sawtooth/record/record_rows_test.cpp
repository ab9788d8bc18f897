#include "experiments/sawtooth/record/record_rows.hpp"

#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/support/cell.hpp"

namespace sawtooth::experiments {
namespace {

using test::cell;

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

}  // namespace
}  // namespace sawtooth::experiments
