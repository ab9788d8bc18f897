#include "experiments/studies/ladder/table.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sawtooth::experiments::ladder
