#include "experiments/studies/speed/ladder/table.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cupti/host_available.hpp"

namespace sawtooth::experiments::ladder {
namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all(1);
  for (const char c : line) {
    if (c == ',')
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

Row swizzled_row() {
  Row row;
  row.level = kernels::ladder::levels()[2];
  row.time_us = 250;
  row.tflops = 34.5;
  return row;
}

TEST(LadderTable, ACounterThatWasNotReadIsAnEmptyCellAndADash) {
  Row row = swizzled_row();
  row.status = "insufficient-privilege";
  std::ostringstream csv, table;
  write_csv(csv, "H200", {}, {row});
  print_table(table, {}, {row});
  std::istringstream lines(csv.str());
  std::string header, line;
  std::getline(lines, header);
  std::getline(lines, line);
  ASSERT_EQ(cells(header).size(), cells(line).size());
  EXPECT_EQ(cells(line).at(1), "ladder-3");
  EXPECT_EQ(cells(line).back(), "insufficient-privilege");
  for (size_t i = 0; i < counters.size(); ++i)
    EXPECT_EQ(cells(line)[cells(line).size() - 2 - i], "") << i;
  EXPECT_THAT(table.str(), testing::HasSubstr(" -"));
}

TEST(LadderTable, ConflictsAreAShareOfTheWavefronts) {
  Row row = swizzled_row();
  for (size_t i = 0; i < counters.size(); ++i) {
    if (counters[i].column == "shared_wavefronts") row.counters[i] = 2000;
    if (counters[i].column == "bank_conflicts") row.counters[i] = 1640;
  }
  std::ostringstream table;
  print_table(table, {}, {row});
  EXPECT_THAT(table.str(), testing::HasSubstr("82.00"));  // 1640 / 2000
}

using LadderCounters = cupti::HostApiTest;

TEST_F(LadderCounters, AllExistOnHopperAndCanBeScheduledTogether) {
  EXPECT_EQ(available_counters("GH100").size(), counters.size());
  std::vector<std::string> metrics;
  for (const Counter& counter : counters) metrics.emplace_back(counter.metric);
  EXPECT_GE(cupti::passes_of("GH100", metrics), 1);
}

TEST_F(LadderCounters, AChipWithoutDramCountersKeepsTheOthers) {
  // GB10 has no dram__ metrics (cupti/metric_table.hpp).
  for (const size_t i : available_counters("GB20B"))
    EXPECT_NE(counters[i].column, "dram_read_sectors");
  EXPECT_GE(available_counters("GB20B").size(), counters.size() - 2);
}

TEST_F(LadderCounters, AnUnknownChipIsAnErrorNotAnEmptyList) {
  EXPECT_THROW(available_counters("GX999"), cupti::CounterError);
}

}  // namespace
}  // namespace sawtooth::experiments::ladder
