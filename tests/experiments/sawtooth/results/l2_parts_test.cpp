// GPUs whose L2 has private parts, by closed forms.
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

// Eight parts of 1 MiB, each with four SMs; K and V of a head have 256 KiB.
const std::string eight_parts =
    "[gpu]\ndescription = d\nsms = 32; assumed; n\nl2-bytes = 8MiB; assumed; n\n"
    "l2-parts = 8; assumed; n\n";
const std::string heads =
    "heads = 16\nseq = 1024\nhead-dim = 64\nlaunch = grid\ntile-q = 64\ntile-kv = 64\n"
    "timing = lockstep\n";
constexpr int64_t head_sectors = 1024 * 128 / 32;  // of Q, K, V or O

PredictedPoint predicted(const test::TemporaryFolder& folder, const std::string& keys,
                         const std::string& more_of_gpu = "") {
  const std::string gpu = folder.write("gpu.ini", eight_parts + more_of_gpu);
  Catalog catalog;
  const Point point = resolve_or_refuse(
      expand(parse_configuration("gpu = " + gpu + "\n" + heads + keys, "test"), {}).front(),
      catalog);
  return predict_point(point, key_cells(point, "test", "predicted"));
}

TEST(L2PartsOfAGpu, EachReadsWhatItsItemsNeed) {
  const test::TemporaryFolder folder;
  for (const std::string l2 : {"l2 = lru\n", "l2 = sets\n"}) {
    // Q tiles of a head lie on all parts: each reads all K and V, and Q once in all.
    const auto spread = predicted(folder, l2 + "section = 1\n");
    EXPECT_EQ(spread.prediction->total.l2_read_miss_sectors, 16 * head_sectors * (1 + 2 * 8)) << l2;
    // Whole heads: K and V once.
    const auto whole = predicted(folder, l2 + "section = part\n");
    EXPECT_EQ(whole.prediction->total.l2_read_miss_sectors, 16 * head_sectors * 3) << l2;
    EXPECT_EQ(whole.row[result_column("section")], "part");
    for (const auto& one : {spread, whole}) {
      EXPECT_EQ(one.prediction->total.cold_read_sectors, 16 * head_sectors * 3);
      EXPECT_EQ(one.prediction->total.l2_read_sectors, 16 * (head_sectors + 16 * 2 * head_sectors));
      ASSERT_EQ(one.prediction->by_part.size(), 8u);
      for (const sim::Counters& part : one.prediction->by_part)
        EXPECT_EQ(*part.l2_read_miss_sectors * 8, *one.prediction->total.l2_read_miss_sectors);
    }
  }
}

TEST(L2PartsOfAGpu, RunsOfNeighboursStayTogether) {
  const test::TemporaryFolder folder;
  // 16 Q tiles a head, two runs of 8: a head lies on two parts.
  const auto two = predicted(folder, "l2 = lru\n", "l2-part-run = 8; assumed; n\n");
  EXPECT_EQ(two.prediction->total.l2_read_miss_sectors, 16 * head_sectors * (1 + 2 * 2));
}

TEST(L2PartsOfAGpu, AMemoryCacheKeepsDramReadsCompulsoryWhereAllFits) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(predicted(folder, "l2 = lru\n").row[result_column("dram_read_sectors")],
            std::to_string(16 * head_sectors * 17));
  EXPECT_EQ(predicted(folder, "l2 = lru\n", "memory-cache-bytes = 16MiB; assumed; n\n")
                .row[result_column("dram_read_sectors")],
            std::to_string(16 * head_sectors * 3));
}

TEST(L2PartsOfAGpu, HaveRowsOfTheirOwnBesideTensors) {
  const test::TemporaryFolder folder;
  const auto whole = predicted(folder, "l2 = lru\nsection = part\n");
  const CsvTable table = parse_csv(side_table("by-tensor", whole.row, *whole.prediction), "t");
  const CsvRow& last = table.rows.back();
  EXPECT_EQ(last[table.column("tensor").value()], "all");
  EXPECT_EQ(last[table.column("part").value()], "7");
  // Of 2 x (1 + 32) head_sectors read and 2 written, 6 and 2 miss.
  EXPECT_EQ(last[table.column("hit_rate").value()], "0.8824");
}

}  // namespace
}  // namespace sawtooth::experiments
