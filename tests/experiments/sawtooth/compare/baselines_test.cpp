#include "experiments/sawtooth/compare/baselines.hpp"

#include <map>

#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {
namespace {

CsvRow key(const std::map<std::string, std::string>& cells) {
  CsvRow row;
  for (const std::string_view column : join_columns()) {
    const auto found = cells.find(std::string(column));
    row.push_back(found == cells.end() ? std::string() : found->second);
  }
  return row;
}

const std::map<std::string, std::string> attention{
    {"gpu", "h200"},      {"kernel", "mma"},    {"pass", "forward"},
    {"batch", "1"},       {"heads", "1"},       {"kv_heads", "1"},
    {"seq_q", "131072"},  {"seq_kv", "131072"}, {"head_dim", "64"},
    {"dtype", "bf16"},    {"mask", "none"},     {"tile_q", "128"},
    {"tile_kv", "128"},   {"section", "1"},     {"q_order", "ascending"},
    {"launch", "static"}, {"workers", "132"},   {"ctas_per_sm", "1"},
    {"scan", "linear"},   {"prefetch", "0"},    {"kv_split", "1"},
    {"loop", "kv-inner"}, {"lse", "off"},       {"head_order", "batch-major"},
    {"state", "cold"}};

// K/V of this head are 32 MiB: they fit a whole L2 of 60 MiB, where lockstep reads them once, and
// not a half of 30 MiB, where the linear scan of each of ceil(1024 / 132) = 8 waves reads them
// again. One tensor of 131072 rows x 128 bytes has 524288 sectors.
TEST(Baselines, AreTheFourRulesAtThePointsOwnSchedule) {
  const CsvTable table = simulate_baselines({key(attention), key(attention)});
  std::map<std::string, int64_t> dram;
  for (const CsvRow& row : table.rows) {
    dram[row[result_column("version")]] = std::stoll(row[result_column("dram_read_sectors")]);
    for (const std::string_view column : join_columns()) {
      const size_t at = table.column(column).value();
      EXPECT_EQ(row[at],
                attention.contains(std::string(column)) ? attention.at(std::string(column)) : "");
    }
  }
  constexpr int64_t tensor = 524288;
  constexpr int64_t waves = 8;
  EXPECT_EQ(table.rows.size(), 4u);  // the same point twice is one
  EXPECT_EQ(dram.at("baseline: compulsory"), 3 * tensor);
  EXPECT_EQ(dram.at("baseline: LRU, full"), 3 * tensor);
  EXPECT_EQ(dram.at("baseline: LRU, half"), tensor + waves * 2 * tensor);
  EXPECT_GT(dram.at("baseline: halves"), 3 * tensor);
}

TEST(Baselines, AGpuWithOneL2HasNoHalf) {
  auto cells = attention;
  cells["gpu"] = "gb10";
  cells["workers"] = "48";
  for (const CsvRow& row : simulate_baselines({key(cells)}).rows) {
    EXPECT_NE(row[result_column("version")], "baseline: LRU, half");
  }
}

TEST(Baselines, CompulsoryPredictsReadsOnly) {
  const CsvTable table = simulate_baselines({key(attention)});
  const CsvRow& row = table.rows.front();
  EXPECT_EQ(row[result_column("version")], "baseline: compulsory");
  EXPECT_EQ(row[result_column("l2_read_sectors")], "");
  EXPECT_EQ(row[result_column("timing")], "");
}

}  // namespace
}  // namespace sawtooth::experiments
