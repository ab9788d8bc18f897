#include "experiments/sawtooth/results/side_tables.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {
namespace {

// 4 sectors of Q at first touch; 12 of K at first touch and 12 again over 9 other lines; 8 of O
// written. So 36 miss in a cache of nothing, and 12 hit from 10 lines (1280 bytes) on.
sim::Prediction small() {
  sim::Prediction prediction;
  prediction.histogram.of(sim::Tensor::q, sim::Access::read).add_cold(4);
  prediction.histogram.of(sim::Tensor::k, sim::Access::read).add_cold(12);
  prediction.histogram.of(sim::Tensor::k, sim::Access::read).add(9, 12);
  prediction.histogram.of(sim::Tensor::o, sim::Access::write).add_cold(8);
  return prediction;
}

CsvRow keys() {
  CsvRow cells(key_column_count);
  cells[result_column("gpu")] = "gb10";
  cells[result_column("l2_bytes")] = "25165824";
  return cells;
}

TEST(MissCurve, FallsExactlyAtTheCapacityThatHoldsADistance) {
  const CsvTable table = parse_csv(side_table("miss-curve", keys(), small()), "m");
  ASSERT_EQ(table.rows.size(), 2u);
  const auto tail = [&](size_t r) {
    return CsvRow(table.rows[r].begin() + 3, table.rows[r].end());
  };
  EXPECT_EQ(tail(0), (CsvRow{"gb10", "25165824", "0", "28", "8", "36"}));
  EXPECT_EQ(tail(1), (CsvRow{"gb10", "25165824", "1280", "16", "8", "24"}));
}

TEST(Histogram, NamesTensorsAndLeavesTheDistanceOfFirstTouchesEmpty) {
  const CsvTable table = parse_csv(side_table("histogram", keys(), small()), "h");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(CsvRow(table.rows[1].begin() + 3, table.rows[1].end()),
            (CsvRow{"gb10", "25165824", "k", "read", "", "12"}));
  EXPECT_EQ(CsvRow(table.rows[2].begin() + 3, table.rows[2].end()),
            (CsvRow{"gb10", "25165824", "k", "read", "9", "12"}));
}

TEST(ByTensor, HasARowForEveryTensorAndForOthersWhereATraceHasThem) {
  sim::Prediction prediction = small();
  const CsvTable table = parse_csv(side_table("by-tensor", keys(), prediction), "t");
  ASSERT_EQ(table.rows.size(), 7u);  // q, k, v, o, lse, partial_o, partial_lse
  EXPECT_EQ(table.rows[3][3], "o");
  prediction.by_tensor[static_cast<size_t>(sim::Tensor::other)].l2_read_sectors = 1;
  const CsvTable more = parse_csv(side_table("by-tensor", keys(), prediction), "t");
  ASSERT_EQ(more.rows.size(), 8u);
  EXPECT_EQ(more.rows[7][3], "other");
}

}  // namespace
}  // namespace sawtooth::experiments
