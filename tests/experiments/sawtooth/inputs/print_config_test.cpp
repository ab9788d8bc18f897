// The resolved form of a configuration means what the configuration means.
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {
namespace {

std::vector<CsvRow> rows_of(const Configuration& configuration, Catalog& catalog) {
  std::vector<CsvRow> rows;
  for (const Settings& settings : expand(configuration, {}))
    rows.push_back(key_cells(resolve(settings, catalog), "e", "predicted"));
  return rows;
}

TEST(PrintConfig, KeepsTheTilesOfGpusThatDifferInOneSide) {
  // Each GPU has a default tile of its own; one that is half given would take its other side from
  // it.
  const size_t tile_q = result_column("tile_q"), tile_kv = result_column("tile_kv");
  for (const std::string launch : {"launch = static\n", ""}) {  // without it a plain call's
    Catalog catalog;
    const Configuration given =
        parse_configuration("gpu = gb10, h200\nseq = 1K\nhead-dim = 128\n" + launch, "given.ini");
    const std::vector<CsvRow> rows = rows_of(given, catalog);
    ASSERT_EQ(rows.size(), 2);
    ASSERT_NE(rows[0][tile_q], rows[1][tile_q]);
    if (!launch.empty()) {
      ASSERT_EQ(rows[0][tile_kv], rows[1][tile_kv]);
    }
    const std::string text = resolved_configuration(given, {}, "e", catalog);
    EXPECT_EQ(rows_of(parse_configuration(text, "resolved.ini"), catalog), rows) << text;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
